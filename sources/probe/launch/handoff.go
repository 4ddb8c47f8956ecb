package launch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HandOffsVariable names the directory in which a process leaves a mark while
// algan may be handing its script over to algan's daemon, which then renders it:
// it stays where algan did.
const HandOffsVariable = "VRAMSCOPE_HAND_OFFS"

// daemonVariable is algan's own switch: with 0 a script renders in the process
// that it was started in.
const daemonVariable = "ALGAN_USE_DAEMON"

// HandOffs collects the scripts of a run that algan hands over to its daemon:
// a process that is none of the run's.
type HandOffs struct {
	directory string
}

// WatchHandOffs makes the directory for the marks, nil where the environment
// lets no script be handed over. It is nil too where it cannot be made: what is
// lost is a sentence at the end.
func WatchHandOffs(environment []string) *HandOffs {
	if strings.TrimSpace(variable(environment, daemonVariable)) == "" {
		return nil // Environment switches it off
	}
	directory, err := os.MkdirTemp("", "vramscope-run-")
	if err != nil {
		return nil
	}
	return &HandOffs{directory}
}

// Scripts are the names of the scripts that were handed over so far, one for
// each process that did.
func (h *HandOffs) Scripts() (scripts []string) {
	if h == nil {
		return nil
	}
	marks, err := os.ReadDir(h.directory)
	if err != nil {
		return nil
	}
	for _, mark := range marks {
		if _, err := strconv.Atoi(mark.Name()); err != nil {
			continue
		}
		if script, err := os.ReadFile(filepath.Join(h.directory, mark.Name())); err == nil {
			scripts = append(scripts, string(script))
		}
	}
	return scripts
}

// Directory is where the marks are, "" where nobody looks for any.
func (h *HandOffs) Directory() string {
	if h == nil {
		return ""
	}
	return h.directory
}

// Close removes the directory.
func (h *HandOffs) Close() {
	if h != nil {
		_ = os.RemoveAll(h.directory)
	}
}

// variable is the value of a variable in an environment, "" where it has none.
// The last one counts.
func variable(environment []string, name string) (value string) {
	for _, entry := range environment {
		if found, ok := strings.CutPrefix(entry, name+"="); ok {
			value = found
		}
	}
	return value
}
