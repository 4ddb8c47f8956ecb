package nvml

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The most that is taken of what a process says about itself.
const (
	maxStatus      = 64 << 10 // bytes of /proc/PID/status that are read
	maxName        = 64       // bytes
	maxCommandLine = 512      // bytes
	maxNSPIDs      = 32       // PID namespaces nest this deep at most
	maxOpenFiles   = 1024     // open files of a process that are looked at
)

// initialNamespaceLink is what /proc/self/ns/pid says outside every container
// (PROC_PID_INIT_INO of the kernel).
const initialNamespaceLink = "pid:[4026531836]"

// processFiles reads what /proc says about processes.
type processFiles struct {
	root             string // "/proc", or a test's
	initialNamespace bool   // process numbers are the host's
	exists           func(pid int) bool
}

func newProcessFiles(root string) processFiles {
	link, err := os.Readlink(filepath.Join(root, "self/ns/pid"))
	return processFiles{root: root, initialNamespace: err == nil && link == initialNamespaceLink, exists: processExists}
}

// processExists asks the kernel, which answers also for processes that the
// hidepid option of /proc hides. Signal 0 does nothing to the process.
func processExists(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// facts reads the facts, and says whether there is such a process to read.
func (f processFiles) facts(pid int) (Facts, bool) {
	folder := filepath.Join(f.root, strconv.Itoa(pid))
	status, err := readUpTo(filepath.Join(folder, "status"), maxStatus)
	if err != nil || len(status) == 0 {
		return Facts{}, false
	}
	facts := parseStatus(status)
	if line, err := readUpTo(filepath.Join(folder, "cmdline"), maxCommandLine); err == nil && len(line) > 0 {
		facts.Arguments = strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	}
	return facts, true
}

// usesGPU says whether the process has a GPU device open, and whether this
// user may know.
func (f processFiles) usesGPU(pid int) (uses, told bool) {
	folder := filepath.Join(f.root, strconv.Itoa(pid), "fd")
	d, err := os.Open(folder)
	if err != nil {
		return false, false
	}
	defer d.Close()
	names, err := d.Readdirnames(maxOpenFiles)
	if err != nil && err != io.EOF {
		return false, false
	}
	for _, name := range names {
		link, err := os.Readlink(filepath.Join(folder, name))
		if err == nil && (strings.HasPrefix(link, "/dev/nvidia") || strings.HasPrefix(link, "/dev/dri/") || link == "/dev/dxg") {
			return true, true
		}
	}
	return false, len(names) < maxOpenFiles
}

// parseStatus takes name, owner and process numbers out of /proc/PID/status.
// The kernel has escaped line feeds and backslashes in the name, and nothing
// else.
func parseStatus(text []byte) Facts {
	facts := Facts{UID: -1}
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		if !found {
			continue
		}
		switch key {
		case "Name":
			if facts.Name == "" {
				value = strings.TrimPrefix(value, "\t")
				facts.Name = value[:min(len(value), maxName)]
			}
		case "Uid":
			if fields := strings.Fields(value); len(fields) > 0 {
				if uid, err := strconv.ParseUint(fields[0], 10, 32); err == nil {
					facts.UID = int(uid)
				}
			}
		case "NSpid":
			facts.NSPIDs = parseNumbers(value)
		}
	}
	return facts
}

// parseNumbers reads a list of process numbers; one that is none spoils it.
func parseNumbers(text string) []int {
	var numbers []int
	for field := range strings.FieldsSeq(text) {
		n, err := strconv.ParseUint(field, 10, 32)
		if err != nil || n == 0 || n > maxPID || len(numbers) == maxNSPIDs {
			return nil
		}
		numbers = append(numbers, int(n))
	}
	return numbers
}

// readUpTo reads at most limit bytes of a file whose size the kernel does not
// tell.
func readUpTo(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
