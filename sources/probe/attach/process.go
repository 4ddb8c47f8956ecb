// Package attach finds the Python processes of this machine, says which of them
// the probe can enter from outside and what keeps it out of the others, and lets
// it in: from Python 3.14 on, through the interpreter's own door for debuggers
// (sys.remote_exec). Nothing is injected by force.
package attach

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"vramscope/sources/probe"
)

// Process is a Python process, as the kernel tells of it. What cannot be read is
// left empty.
type Process struct {
	PID        int
	Start      uint64 // clock ticks after boot
	UID        int    // of its user; -1 where it is not known
	Name       string // of its script or module, else of the program
	Executable string // path of the program, without links
	Version    Version
	Embedded   bool // the program has Python built in and is no interpreter itself

	command   []string // its command line
	readable  bool     // this process may look into it
	elsewhere string   // a namespace that it does not share with this process, "" if none
	disabled  string   // what switches its door off, "" if nothing does
}

// Version is a version of Python; the zero value is one that is not known.
type Version struct{ Major, Minor int }

// String is "3.14", or "an unknown version".
func (v Version) String() string {
	if v == (Version{}) {
		return "of an unknown version"
	}
	return fmt.Sprintf("%d.%d", v.Major, v.Minor)
}

// first is the version that has the door.
var first = Version{3, 14}

func (v Version) before(other Version) bool {
	return v.Major < other.Major || v.Major == other.Major && v.Minor < other.Minor
}

// Processes are the Python processes of this machine that can be seen, in the
// order of their numbers. The error is that of reading /proc.
func Processes() ([]*Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var found []*Process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, err := Inspect(pid); err == nil {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *Process) int { return a.PID - b.PID })
	return found, nil
}

// Inspect looks at a process. The error is a *GoneError where there is none and
// a *NotPythonError where it is something else.
func Inspect(pid int) (*Process, error) {
	p := &Process{PID: pid, UID: -1}
	start, err := probe.StartTime(pid)
	if err != nil || (probe.Name{PID: pid, Start: start}).Gone() {
		return nil, &GoneError{PID: pid}
	}
	p.Start = start
	p.UID = userOf(pid)
	p.command = listOf(p.file("cmdline"))
	p.Executable, err = os.Readlink(p.path("exe"))
	p.readable = err == nil
	program := filepath.Base(strings.TrimSuffix(p.Executable, deleted))
	if !p.readable && len(p.command) > 0 {
		program = filepath.Base(p.command[0])
	}
	named := interpreter.FindStringSubmatch(program)
	mapped, isMapped := Version{}, false
	if named == nil || named[2] == "" {
		mapped, isMapped = mappedVersion(p.file("maps"))
	}
	switch {
	case named == nil && !isMapped:
		return nil, &NotPythonError{PID: pid, Program: program}
	case named == nil:
		p.Embedded, p.Version = true, mapped
	case named[2] != "":
		p.Version = versionOf(named[2], named[3])
	default:
		p.Version = mapped
	}
	p.Name = nameOf(p.command, program)
	p.elsewhere = otherNamespace(p.path("ns"))
	p.disabled = p.disabledBy()
	return p, nil
}

// deleted stands behind the path of a program whose file is gone.
const deleted = " (deleted)"

// interpreter is what a Python is called: python, python3, python3.14, pypy3.11.
var interpreter = regexp.MustCompile(`^(python|pypy)(?:(\d+)(?:\.(\d+))?)?[dt]?$`)

func versionOf(major, minor string) Version {
	if minor == "" {
		return Version{}
	}
	a, _ := strconv.Atoi(major)
	b, _ := strconv.Atoi(minor)
	return Version{a, b}
}

// mapping is what a process with Python has mapped: the library, or a module of
// the standard library.
var mapping = regexp.MustCompile(`/libpython(\d+)\.(\d+)[a-z]*\.so|/python(\d+)\.(\d+)[a-z]*/lib-dynload/`)

// mappedVersion finds Python in the text of a process's maps file.
func mappedVersion(maps []byte) (Version, bool) {
	match := mapping.FindSubmatch(maps)
	if match == nil {
		return Version{}, false
	}
	if len(match[1]) > 0 {
		return versionOf(string(match[1]), string(match[2])), true
	}
	return versionOf(string(match[3]), string(match[4])), true
}

// Command is the command line, nil where it cannot be read.
func (p *Process) Command() []string { return p.command }

func (p *Process) path(name string) string { return "/proc/" + strconv.Itoa(p.PID) + "/" + name }

// maximumFile bounds what is read of a file in /proc: other processes write
// their own command lines.
const maximumFile = 8 << 20

func (p *Process) file(name string) []byte {
	file, err := os.Open(p.path(name))
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maximumFile))
	if err != nil {
		return nil
	}
	return text
}

// listOf is a list whose entries end with a zero byte.
func listOf(text []byte) []string {
	text = bytes.TrimSuffix(text, []byte{0})
	if len(text) == 0 {
		return nil
	}
	return strings.Split(string(text), "\x00")
}

// userOf is the real user of a process: the owner of its /proc is root where it
// hides itself.
func userOf(pid int) int {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return -1
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Uid:" {
			if uid, err := strconv.Atoi(fields[1]); err == nil {
				return uid
			}
		}
	}
	return -1
}

// nameOf is what the probe would call itself: the script, or the module. Which
// word that is, is a guess that only names something on a screen.
func nameOf(command []string, program string) string {
	for i := 1; i < len(command); i++ {
		word := command[i]
		switch {
		case word == "-m" && i+1 < len(command):
			return command[i+1]
		case word == "-c" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.HasSuffix(word, "c"):
			return program + " -c"
		case word == "-W" || word == "-X":
			i++
		case !strings.HasPrefix(word, "-") && word != "":
			return filepath.Base(word)
		}
	}
	return program
}

// IsAlganDaemon says whether the process is, by its command line, algan's daemon:
// scripts that import algan are handed to it and render there.
func (p *Process) IsAlganDaemon() bool {
	for i, word := range p.command[:max(len(p.command)-1, 0)] {
		next := p.command[i+1]
		if word == "-m" && next == "algan.daemon" {
			return true
		}
		if filepath.Base(word) == "algan" && next == "daemon" {
			return i+2 == len(p.command) // a verb behind it goes to a daemon that runs
		}
	}
	return false
}

// otherNamespace names a namespace in which paths or numbers are not those of
// this process.
func otherNamespace(directory string) string {
	for _, namespace := range []string{"mnt", "pid"} {
		theirs, err := os.Readlink(filepath.Join(directory, namespace))
		if err != nil {
			continue
		}
		if ours, err := os.Readlink("/proc/self/ns/" + namespace); err == nil && ours != theirs {
			return namespace
		}
	}
	return ""
}

// disabledBy says what switches the door off, as far as that can be seen: the
// interpreter itself has the last word.
func (p *Process) disabledBy() string {
	const variable = "PYTHON_DISABLE_REMOTE_DEBUG"
	if p.Variable(variable) != "" {
		return variable
	}
	for i, word := range p.command {
		option := strings.TrimPrefix(word, "-X")
		if word == "-X" && i+1 < len(p.command) {
			option = p.command[i+1]
		}
		if strings.ReplaceAll(option, "_", "-") == "disable-remote-debug" {
			return "-X disable-remote-debug"
		}
	}
	return ""
}

// Variable is what a variable of the process's environment was at its start, ""
// where it has none or cannot be looked into.
func (p *Process) Variable(name string) string {
	for _, entry := range p.environment() {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

func (p *Process) environment() []string { return listOf(p.file("environ")) }

// SocketName is how the probe's socket is called if it is in this process.
func (p *Process) SocketName() probe.Name { return probe.Name{PID: p.PID, Start: p.Start} }

// SocketDirectory is where a probe in the process has its socket, by the
// environment and the working directory of the process.
func (p *Process) SocketDirectory() string {
	working, _ := os.Readlink(p.path("cwd"))
	return probe.PlaceOf(p.Variable, working)
}

// ForkedFrom is the parent of a process that is a fork of it and has executed
// nothing since, 0 for another, and for one whose parent has ended.
func (p *Process) ForkedFrom() int {
	stat := string(p.file("stat"))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil || parent <= 1 {
		return 0
	}
	if image := probe.Image(p.PID); image == "" || image != probe.Image(parent) {
		return 0
	}
	return parent
}

// gpuLibraries are the folders of compiled parts of GPU libraries, by the names of
// the libraries.
var gpuLibraries = []struct{ folder, library string }{
	{"/torch/", "torch"}, {"/cupy/", "cupy"}, {"/cupy_backends/", "cupy"}, {"/rmm/", "rmm"}, {"/jaxlib/", "jax"}, {"/taichi/", "taichi"}, {"/quadrants/", "quadrants"},
}

// GPULibrary is a GPU library that the process has loaded compiled parts of, ""
// where none is seen.
func (p *Process) GPULibrary() string {
	for line := range strings.Lines(string(p.file("maps"))) {
		_, path, isFile := strings.Cut(line, "/")
		if !isFile || !strings.Contains(path, ".so") {
			continue
		}
		for _, known := range gpuLibraries {
			if strings.Contains("/"+path, known.folder) {
				return known.library
			}
		}
	}
	return ""
}

// HasProbe says whether there is a socket of this process in a directory.
func (p *Process) HasProbe(directory string) bool {
	info, err := os.Lstat(filepath.Join(directory, p.SocketName().String()))
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

func isPermission(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES)
}
