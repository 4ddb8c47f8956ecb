package local

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"vramscope/pool"
)

// gauges reads what is not the render's own: the machine and the process.
type gauges struct {
	host     func() pool.HostMemory // nil reads nothing
	resident func() (bytes int64, ok bool)
	cpu      func() (ns int64, ok bool)
	missing  string // why resident and cpu are not there
}

// machine reads this machine. The host's memory is read once a second at most.
func machine(now func() int64) gauges {
	root := os.DirFS("/")
	var last pool.HostMemory
	var read int64
	return gauges{
		host: func() pool.HostMemory {
			if moment := now(); read == 0 || moment-read >= int64(time.Second) {
				last, read = pool.ReadHostMemory(root), moment
			}
			return last
		},
		resident: residentBytes,
		cpu:      processorTime,
	}
}

// nowhere is a machine without memory, for records that come out the same each
// time.
func nowhere() gauges {
	return gauges{missing: "not measured: the render ran as fast as it could, in a time of its own"}
}

// effects is the host as the release policy sees it.
func (g gauges) effects() pool.HostEffects {
	memory := g.host
	if memory == nil {
		unknown := pool.HostMemory{Total: pool.Unknown, Available: pool.Unknown, CgroupCurrent: pool.Unknown, CgroupLimit: pool.Unknown}
		memory = func() pool.HostMemory { return unknown }
	}
	return pool.HostEffects{Memory: memory}
}

// residentBytes is this process's resident set, from /proc/self/statm.
func residentBytes() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// processorTime is what this process has used of the processors.
func processorTime() (int64, bool) {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &used); err != nil {
		return 0, false
	}
	return used.Nano(), true
}
