// Package launch starts a program so that the probe gets into every Python
// process of it: through the environment alone, with the program's own input,
// output, terminal, signals and exit code.
package launch

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The variables that the probe reads. They reach the program's children too.
const (
	TargetVariable       = "VRAMSCOPE_TARGET"        // the door's directory and mark: this program is meant
	HideArgvVariable     = "VRAMSCOPE_HIDE_ARGV"     // 1: the command line is told to nobody
	RateVariable         = "VRAMSCOPE_RATE"          // samples a second
	TorchHistoryVariable = "VRAMSCOPE_TORCH_HISTORY" // allocations whose stacks torch keeps
	SnapshotsVariable    = "VRAMSCOPE_SNAPSHOTS"     // what the names of snapshots at a failure begin with
	RecordedVariable     = "VRAMSCOPE_RECORDED"      // 1: a recorder is on its way, and wants events from the first one
	ScopesVariable       = "VRAMSCOPE_SCOPES"        // 1: the program's own recorders are armed from the start
)

const pathVariable = "PYTHONPATH"

// Door is a directory of the user's own, which Python finds first: its
// sitecustomize.py lets the probe in. Doors of several runs share the directory;
// each has a mark of its own, which its programs carry in their environment.
type Door struct {
	directory string
	mark      string
	passing   bool // the directory is this door's alone, and goes with it
}

// markSeparator stands between directory and mark: a directory that PYTHONPATH
// can name has none.
const markSeparator = string(os.PathListSeparator)

// DoorError says that the directory for the probe could not be made.
type DoorError struct {
	Path string // the directory, or where it should have been made
	Err  error
}

// Error is one sentence that says what to do.
func (e *DoorError) Error() string {
	err := e.Err
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err // the sentence has the path
	}
	return fmt.Sprintf("the probe cannot be laid down in %s (%v): make room there, or set TMPDIR to another directory of yours", e.Path, err)
}

// Unwrap is the system's error.
func (e *DoorError) Unwrap() error { return e.Err }

// Open lays the probe's files, by their names, into a directory with mode 0700:
// a lasting one in the user's cache, else a temporary one. The error is a
// *DoorError.
func Open(files map[string]string) (*Door, error) {
	mark := rand.Text()
	if directory, err := layLasting(files); err == nil && canBeListed(directory) {
		return &Door{directory: directory, mark: mark}, nil
	}
	directory, err := layPassing(files)
	if err != nil {
		return nil, err
	}
	return &Door{directory: directory, mark: mark, passing: true}, nil
}

// canBeListed says whether a directory can stand in PYTHONPATH, a list that
// colons part.
func canBeListed(directory string) bool {
	return !strings.Contains(directory, string(os.PathListSeparator))
}

// layPassing lays the files into a temporary directory. The error is a
// *DoorError.
func layPassing(files map[string]string) (directory string, err error) {
	directory, err = os.MkdirTemp("", "vramscope-run-")
	if err != nil {
		return "", &DoorError{os.TempDir(), err}
	}
	// PYTHONPATH is read in the program's working directory.
	if absolute, err := filepath.Abs(directory); err == nil {
		directory = absolute
	}
	for name, text := range files {
		if err = os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			break
		}
	}
	if err == nil && !canBeListed(directory) {
		err = fmt.Errorf("a colon in its name parts %s", pathVariable)
	}
	if err != nil {
		_ = os.RemoveAll(directory)
		return "", &DoorError{directory, err}
	}
	return directory, nil
}

// Directory is where the probe lies.
func (d *Door) Directory() string { return d.directory }

// Target is what the programs of this door, and of no other, carry in
// TargetVariable.
func (d *Door) Target() string { return d.directory + markSeparator + d.mark }

// Close removes a temporary directory. Programs in which the probe is keep it.
func (d *Door) Close() {
	if d.passing {
		_ = os.RemoveAll(d.directory)
	}
}

// Options are what the probe is told beforehand.
type Options struct {
	HideArgv     bool    // tell the command line to nobody
	Rate         float64 // samples a second; 0 leaves it to the probe
	TorchHistory int     // allocations whose stacks torch keeps; 0 is none
	Snapshots    string  // what the paths of snapshots at a failure begin with; "" writes none
	Recorded     bool    // a recorder comes and is told of events from the first one
	Scopes       bool    // the program's own recorders are armed from the start
	HandOffs     string  // the directory for marks of scripts that algan hands to its daemon; "" wants none
}

// Environment is base with what lets the probe in: the directory stands first
// in PYTHONPATH, before what the user has there. algan keeps its scripts in their
// own processes where the user has not said otherwise: its daemon is none of the
// program's.
func (d *Door) Environment(base []string, options Options) []string {
	set := map[string]string{TargetVariable: d.Target()}
	if options.HideArgv {
		set[HideArgvVariable] = "1"
	}
	if options.Rate > 0 && !math.IsInf(options.Rate, 0) {
		set[RateVariable] = strconv.FormatFloat(options.Rate, 'g', -1, 64)
	}
	if options.TorchHistory > 0 {
		set[TorchHistoryVariable] = strconv.Itoa(options.TorchHistory)
	}
	if options.Snapshots != "" {
		set[SnapshotsVariable] = options.Snapshots
	}
	if options.Recorded {
		set[RecordedVariable] = "1"
	}
	if options.Scopes {
		set[ScopesVariable] = "1"
	}
	if options.HandOffs != "" {
		set[HandOffsVariable] = options.HandOffs
	}
	if strings.TrimSpace(variable(base, daemonVariable)) == "" {
		set[daemonVariable] = "0"
	}
	paths, outer := "", ""
	kept := make([]string, 0, len(base)+len(set)+1)
	for _, variable := range base {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == pathVariable:
			paths = value
			continue
		case name == TargetVariable:
			outer, _, _ = strings.Cut(value, markSeparator) // of a run around this one
			continue
		case set[name] != "" || name == HandOffsVariable: // or of a run around this one
			continue
		}
		kept = append(kept, variable)
	}
	set[pathVariable] = d.searchPath(paths, outer)
	for _, name := range []string{pathVariable, TargetVariable, HideArgvVariable, RateVariable, TorchHistoryVariable, SnapshotsVariable, RecordedVariable, ScopesVariable, HandOffsVariable, daemonVariable} {
		if value, ok := set[name]; ok {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}

// searchPath puts the directory before the user's own list. An empty list is
// none: an empty entry would mean the working directory.
func (d *Door) searchPath(paths, outer string) string {
	entries := []string{d.directory}
	if paths != "" {
		for entry := range strings.SplitSeq(paths, string(os.PathListSeparator)) {
			if entry != d.directory && (outer == "" || entry != outer) {
				entries = append(entries, entry)
			}
		}
	}
	return strings.Join(entries, string(os.PathListSeparator))
}
