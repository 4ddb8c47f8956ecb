// Package launch starts a program so that the probe gets into every Python
// process of it: through the environment alone, with the program's own input,
// output, terminal, signals and exit code.
package launch

import (
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
	TargetVariable       = "VRAMSCOPE_TARGET"        // the door's directory: this program is meant
	HideArgvVariable     = "VRAMSCOPE_HIDE_ARGV"     // 1: the command line is told to nobody
	RateVariable         = "VRAMSCOPE_RATE"          // samples a second
	TorchHistoryVariable = "VRAMSCOPE_TORCH_HISTORY" // allocations whose stacks torch keeps
	SnapshotsVariable    = "VRAMSCOPE_SNAPSHOTS"     // what the names of snapshots at a failure begin with
)

const pathVariable = "PYTHONPATH"

// Door is a directory of the user's own, which Python finds first: its
// sitecustomize.py lets the probe in.
type Door struct{ directory string }

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

// Open makes the directory, with mode 0700, and has the probe written into
// it. The error is a *DoorError.
func Open(write func(directory string) error) (*Door, error) {
	directory, err := os.MkdirTemp("", "vramscope-run-")
	if err != nil {
		return nil, &DoorError{os.TempDir(), err}
	}
	// PYTHONPATH is a list that colons part, and is read in the program's
	// working directory.
	if absolute, err := filepath.Abs(directory); err == nil {
		directory = absolute
	}
	d := &Door{directory}
	if err := write(directory); err != nil {
		d.Close()
		return nil, &DoorError{directory, err}
	}
	if strings.Contains(directory, string(os.PathListSeparator)) {
		d.Close()
		return nil, &DoorError{directory, fmt.Errorf("a colon in its name parts %s", pathVariable)}
	}
	return d, nil
}

// Directory is where the probe lies.
func (d *Door) Directory() string { return d.directory }

// Close removes the directory. Programs in which the probe is keep it.
func (d *Door) Close() { _ = os.RemoveAll(d.directory) }

// Options are what the probe is told beforehand.
type Options struct {
	HideArgv     bool    // tell the command line to nobody
	Rate         float64 // samples a second; 0 leaves it to the probe
	TorchHistory int     // allocations whose stacks torch keeps; 0 is none
	Snapshots    string  // what the paths of snapshots at a failure begin with; "" writes none
}

// Environment is base with what lets the probe in: the directory stands first
// in PYTHONPATH, before what the user has there.
func (d *Door) Environment(base []string, options Options) []string {
	set := map[string]string{TargetVariable: d.directory}
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
	paths, outer := "", ""
	kept := make([]string, 0, len(base)+len(set)+1)
	for _, variable := range base {
		name, value, _ := strings.Cut(variable, "=")
		switch {
		case name == pathVariable:
			paths = value
			continue
		case name == TargetVariable:
			outer = value // of a run around this one
			continue
		case set[name] != "":
			continue
		}
		kept = append(kept, variable)
	}
	set[pathVariable] = d.searchPath(paths, outer)
	for _, name := range []string{pathVariable, TargetVariable, HideArgvVariable, RateVariable, TorchHistoryVariable, SnapshotsVariable} {
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
			if outer == "" || entry != outer {
				entries = append(entries, entry)
			}
		}
	}
	return strings.Join(entries, string(os.PathListSeparator))
}
