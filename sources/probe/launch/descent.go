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
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err == nil {
		mark := []byte(TargetVariable + "=" + d.directory)
		for variable := range bytes.SplitSeq(environment, []byte{0}) {
			if bytes.Equal(variable, mark) {
				return true
			}
		}
	}
	return descends(pid, os.Getpid())
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
