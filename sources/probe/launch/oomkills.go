package launch

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// OutOfMemoryKills is how many processes the kernel has killed for want of host
// memory since the machine started, those of control groups included. It is not
// known on kernels that do not count them (/proc/vmstat, oom_kill).
func OutOfMemoryKills() (count int64, known bool) {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0, false
	}
	return oomKills(text)
}

func oomKills(vmstat []byte) (count int64, known bool) {
	for line := range bytes.Lines(vmstat) {
		if value, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
			count, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			return count, err == nil
		}
	}
	return 0, false
}

// PerhapsOutOfMemory says whether the kernel may have ended the program for want
// of host memory: SIGKILL ended it, and the count of such kills has risen from
// before to after. Whose the kill was is not told.
func (e Exit) PerhapsOutOfMemory(before, after int64) bool {
	return e.Status() == 128+int(syscall.SIGKILL) && after > before
}
