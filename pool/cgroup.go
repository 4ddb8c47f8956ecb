package pool

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// HostMemory is one reading of the machine's own memory and of the control
// group that this process is in. Bytes; Unknown where it could not be read.
type HostMemory struct {
	Total         int64  // MemTotal of /proc/meminfo
	Available     int64  // MemAvailable of /proc/meminfo, what psutil calls available
	CgroupCurrent int64  // in the control group
	CgroupLimit   int64  // its limit; Unknown when it has none
	CgroupPath    string // the folder that both were read in, "" without a limit
}

// ReadHostMemory reads the host's memory below root, which is the file system's
// root: os.DirFS("/"). Nothing that is missing is an error: its number is
// Unknown.
//
// The control group is found as algan finds it: the root of version 2, then
// each line of /proc/self/cgroup in its order (version 2 nested, version 1 by
// its memory controller). The first with a positive usage and a limit under
// 2^60 counts.
func ReadHostMemory(root fs.FS) HostMemory {
	host := HostMemory{CgroupCurrent: Unknown, CgroupLimit: Unknown}
	host.Total, host.Available = readMemInfo(root)
	for _, candidate := range cgroupCandidates(root) {
		current, ok := readPositive(root, candidate.current)
		if !ok {
			continue
		}
		limit, ok := readPositive(root, candidate.limit)
		if !ok || limit >= cgroupUnlimited {
			continue
		}
		host.CgroupCurrent, host.CgroupLimit = current, limit
		host.CgroupPath = "/" + path.Dir(candidate.current)
		break
	}
	return host
}

// cgroupUnlimited is the limit from which a group counts as having none:
// version 1 writes a huge number where version 2 writes "max".
const cgroupUnlimited int64 = 1 << 60

// maxControlFile is the most that is read of one file, in bytes: a control file
// is a number or a few lines.
const maxControlFile = 64 << 10

// maxCgroups is how many groups are looked into: a process is in one for each
// hierarchy, of which the kernel has a dozen.
const maxCgroups = 64

type cgroupFiles struct {
	current string
	limit   string
}

func cgroupCandidates(root fs.FS) []cgroupFiles {
	const mount = "sys/fs/cgroup"
	candidates := []cgroupFiles{{mount + "/memory.current", mount + "/memory.max"}}
	for line := range strings.Lines(readControlFile(root, "proc/self/cgroup")) {
		fields := strings.SplitN(strings.TrimRight(line, "\r\n"), ":", 3)
		if len(fields) != 3 || leavesMount(fields[2]) {
			continue
		}
		var candidate cgroupFiles
		switch {
		case fields[0] == "0" && fields[1] == "":
			folder := path.Join(mount, fields[2])
			candidate = cgroupFiles{folder + "/memory.current", folder + "/memory.max"}
		case slices.Contains(strings.Split(fields[1], ","), "memory"):
			folder := path.Join(mount, "memory", fields[2])
			candidate = cgroupFiles{folder + "/memory.usage_in_bytes", folder + "/memory.limit_in_bytes"}
		default:
			continue
		}
		if slices.Contains(candidates, candidate) {
			continue
		}
		if candidates = append(candidates, candidate); len(candidates) == maxCgroups {
			break
		}
	}
	return candidates
}

// leavesMount says that a group lies outside what this process can see: the kernel
// writes such a path with "..".
func leavesMount(group string) bool {
	return slices.Contains(strings.Split(group, "/"), "..")
}

// readPositive reads a file that holds one positive number. "max", nothing, 0
// and a negative number are none.
func readPositive(root fs.FS, name string) (int64, bool) {
	number, err := strconv.ParseInt(strings.TrimSpace(readControlFile(root, name)), 10, 64)
	return number, err == nil && number > 0
}

func readMemInfo(root fs.FS) (total, available int64) {
	total, available = Unknown, Unknown
	for line := range strings.Lines(readControlFile(root, "proc/meminfo")) {
		name, value, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		switch name {
		case "MemTotal":
			total = kibibytes(value)
		case "MemAvailable":
			available = kibibytes(value)
		}
	}
	return total, available
}

func kibibytes(value string) int64 {
	fields := strings.Fields(value)
	if len(fields) == 0 {
		return Unknown
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || number < 0 || number > (1<<63-1)>>10 {
		return Unknown
	}
	return number << 10
}

// readControlFile reads a small text file, or nothing where it cannot be read.
func readControlFile(root fs.FS, name string) string {
	if !fs.ValidPath(name) {
		return ""
	}
	file, err := root.Open(name)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxControlFile))
	if err != nil {
		return ""
	}
	return string(text)
}
