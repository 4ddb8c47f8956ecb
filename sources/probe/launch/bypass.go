package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bypass is an environment of a process of a run in which Python does not find
// the probe.
type Bypass struct {
	Emptied bool   // what the run put into it is gone
	Path    string // else its PYTHONPATH, "" for none
}

// String is one sentence that says why and what to do.
func (b *Bypass) String() string {
	const instead = "or let the program import vramscope_probe, which vramscope probe prints"
	switch {
	case b.Emptied:
		return "the probe cannot enter, since the environment that vramscope run gave was not passed on, as with env -i or sudo: put vramscope run behind that, right before python, " + instead
	case b.Path == "":
		return fmt.Sprintf("the probe cannot enter, since %s, in which vramscope run had put the probe's directory, was taken out of the environment: leave it there, %s", pathVariable, instead)
	}
	return fmt.Sprintf("the probe cannot enter, since the command set %s anew (%s), without the probe's directory that vramscope run had put there: add to it, as in %s=mine:$%s, %s",
		pathVariable, b.Path, pathVariable, pathVariable, instead)
}

// BypassOf says how the environment of a process of a run, as IsOfRun knows them,
// keeps the probe out: nil where it does not, or cannot be looked into.
func BypassOf(pid int) *Bypass {
	environment, err := environmentOf(pid)
	if err != nil {
		return nil
	}
	target := variable(environment, TargetVariable)
	if target == "" {
		return &Bypass{Emptied: true}
	}
	directory, _, _ := strings.Cut(target, markSeparator)
	path := variable(environment, pathVariable)
	if slices.Contains(filepath.SplitList(path), directory) {
		return nil
	}
	return &Bypass{Path: path}
}

// IsOfRun says whether a process belongs to a run, whatever became of its
// environment: it was started with a door, or descends from such a process or
// from the run itself.
func IsOfRun(pid int) bool {
	if Launched(pid) {
		return true
	}
	for ancestor := range ancestors(pid) {
		if Launched(ancestor) || isRun(ancestor) {
			return true
		}
	}
	return false
}

// isRun says whether a process is a vramscope run: of this program's file or name.
func isRun(pid int) bool {
	proc := "/proc/" + strconv.Itoa(pid)
	program, err := os.Readlink(proc + "/exe")
	if err != nil {
		return false
	}
	own, _ := os.Readlink("/proc/self/exe")
	if program != own && filepath.Base(program) != "vramscope" {
		return false
	}
	command, err := os.ReadFile(proc + "/cmdline")
	return err == nil && slices.Contains(strings.Split(string(command), "\x00"), "run")
}
