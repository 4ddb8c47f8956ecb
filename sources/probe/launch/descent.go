package launch

import (
	"bytes"
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
func Processes() (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && Launched(pid) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// doorOf is the target of the door that a process was started with, "" where
// it has none or cannot be looked into.
func doorOf(pid int) string {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for variable := range bytes.SplitSeq(environment, []byte{0}) {
		if target, ok := bytes.CutPrefix(variable, []byte(TargetVariable+"=")); ok {
			return string(target)
		}
	}
	return ""
}

// deepest is how many ancestors are looked at.
const deepest = 256

// descends says whether a process is another's child, or a child's child.
func descends(pid, ancestor int) bool {
	for range deepest {
		fields := statFields(pid)
		if len(fields) < 2 {
			return false
		}
		parent, err := strconv.Atoi(fields[1])
		if err != nil || parent <= 0 {
			return false
		}
		if parent == ancestor {
			return true
		}
		pid = parent
	}
	return false
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
