package launch

import (
	"bytes"
	"iter"
	"os"
	"strconv"
	"strings"
)

// Holds says whether a process belongs to the program that was started with
// the door's environment: it has that environment, as every child has whoever
// its parent is by now, or it descends from this process.
func (d *Door) Holds(pid int) bool {
	return doorOf(pid) == d.Target() || descends(pid, os.Getpid())
}

// Launched says whether a process was started with a door, or is the child of
// one: the probe is in it, or comes with the first GPU library that it loads.
func Launched(pid int) bool { return doorOf(pid) != "" }

// Processes are the numbers of the processes that were started with a door, and
// of their children. The error is that of reading /proc.
func Processes() (pids []int, err error) { return processes(Launched) }

// Processes are the numbers of those that the door holds. The error is that of
// reading /proc.
func (d *Door) Processes() (pids []int, err error) { return processes(d.Holds) }

func processes(belongs func(pid int) bool) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && belongs(pid) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// doorOf is the target of the door that a process was started with, "" where
// it has none or cannot be looked into.
func doorOf(pid int) string {
	environment, _ := environmentOf(pid)
	return variable(environment, TargetVariable)
}

// environmentOf is what a process was started with. The error says that it cannot
// be looked into.
func environmentOf(pid int) ([]string, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return strings.Split(string(text), "\x00"), err
}

// deepest is how many ancestors are looked at.
const deepest = 256

// descends says whether a process is another's child, or a child's child.
func descends(pid, ancestor int) bool {
	for parent := range ancestors(pid) {
		if parent == ancestor {
			return true
		}
	}
	return false
}

// ancestors are a process's parent, the parent of that, and so on.
func ancestors(pid int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for range deepest {
			fields := statFields(pid)
			if len(fields) < 2 {
				return
			}
			parent, err := strconv.Atoi(fields[1])
			if err != nil || parent <= 0 || !yield(parent) {
				return
			}
			pid = parent
		}
	}
}

// Stopped says whether a process was stopped by a signal, and waits to be
// continued.
func Stopped(pid int) bool { return isStopped(pid) }

// isStopped says whether a process was stopped by a signal.
func isStopped(pid int) bool {
	fields := statFields(pid)
	return len(fields) > 0 && fields[0] == "T"
}

// statFields are the fields of /proc/PID/stat from the third on, the process's
// state: the second is the name, which may hold anything.
func statFields(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}
