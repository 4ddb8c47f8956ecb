package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// DirectoryVariable names the environment variable that says where sockets
// are, for both ends. It wins over XDG_RUNTIME_DIR and /tmp.
const DirectoryVariable = "VRAMSCOPE_SOCKET_DIR"

// MaxPath is the longest path of a Unix socket in bytes: sun_path has 108
// with the zero that ends it.
const MaxPath = 107

const suffix = ".sock"

// DirectoryError refuses a directory for sockets: whoever can write into it
// could put a socket of their own there.
type DirectoryError struct {
	Path   string
	Reason string // what is wrong with it
}

// Error is one sentence that says what to do.
func (e *DirectoryError) Error() string {
	return fmt.Sprintf("%s %s, so no socket is looked for or made there: make it a directory of your own with mode 0700, or set %s to one",
		e.Path, e.Reason, DirectoryVariable)
}

// PathLengthError refuses a socket path that the kernel cannot take: the path of a
// process's, or the longest that one in the directory may have.
type PathLengthError struct{ Path string }

// Error is one sentence that says what to do.
func (e *PathLengthError) Error() string {
	return fmt.Sprintf("a socket path such as %s has %d bytes and the kernel takes %d: set %s to a shorter directory",
		e.Path, len(e.Path), MaxPath, DirectoryVariable)
}

// Directory is where this user's sockets are, as an absolute path:
// $VRAMSCOPE_SOCKET_DIR, else $XDG_RUNTIME_DIR/vramscope where the runtime
// directory is the user's own with mode 0700, else /tmp/vramscope-UID. The
// directory is made where it is missing. The error is a *PathLengthError where the
// path of a socket in it may be longer than the kernel takes, and a
// *DirectoryError when the place exists and other users could reach it.
func Directory() (string, error) {
	return directory(os.Getenv, "/tmp")
}

func directory(getenv func(string) string, temporary string) (string, error) {
	dir, err := filepath.Abs(placeOf(getenv, temporary))
	if err != nil {
		return "", &DirectoryError{placeOf(getenv, temporary), "is relative to a working directory that is gone"}
	}
	if path := filepath.Join(dir, longestName().String()); len(path) > MaxPath {
		return "", &PathLengthError{path}
	}
	return ensure(dir)
}

// PlaceOf is where the sockets of another process of this user are, by its
// environment and its working directory.
func PlaceOf(getenv func(string) string, working string) string {
	dir := placeOf(getenv, "/tmp")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(working, dir)
	}
	return filepath.Clean(dir)
}

func placeOf(getenv func(string) string, temporary string) string {
	if dir := getenv(DirectoryVariable); dir != "" {
		return dir
	}
	// A runtime directory that is not as its specification says is ignored,
	// not refused: it is often unset, or left over from another user by su.
	if runtime := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) && checkDirectory(runtime) == nil {
		return filepath.Join(runtime, "vramscope")
	}
	return filepath.Join(temporary, "vramscope-"+strconv.Itoa(os.Getuid()))
}

// longestName is as long as the name of a socket can be here and now. Start times
// have as many digits as this process's own.
var longestName = sync.OnceValue(func() Name {
	const most = 1 << 22 // the kernel's limit of process numbers
	name := Name{PID: most, Start: 9_999_999_999}
	if start, err := StartTime(os.Getpid()); err == nil {
		name.Start = start
	}
	text, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if limit, wrong := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && wrong == nil && limit > 1 {
		name.PID = limit - 1
	}
	return name
})

func ensure(dir string) (string, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", &DirectoryError{dir, "cannot be made (" + reason(err) + ")"}
	}
	if err := checkDirectory(dir); err != nil {
		return "", err
	}
	return dir, nil
}

// checkDirectory looks at the path itself, not at what a link points to.
func checkDirectory(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return &DirectoryError{dir, "cannot be looked at (" + reason(err) + ")"}
	}
	switch owner := info.Sys().(*syscall.Stat_t).Uid; {
	case info.Mode()&fs.ModeSymlink != 0:
		return &DirectoryError{dir, "is a symbolic link"}
	case !info.IsDir():
		return &DirectoryError{dir, "is not a directory"}
	case int(owner) != os.Getuid():
		return &DirectoryError{dir, fmt.Sprintf("belongs to user %d, not to %d", owner, os.Getuid())}
	case info.Mode().Perm()&0o077 != 0:
		return &DirectoryError{dir, fmt.Sprintf("is open to others (mode %04o)", info.Mode().Perm())}
	}
	return nil
}

// Name is who a socket belongs to, as its file name says. The start time
// tells a process from a later one that got the same number.
type Name struct {
	PID   int
	Start uint64 // clock ticks after boot, field 22 of /proc/PID/stat
}

// String is the name of the socket's file.
func (n Name) String() string {
	return strconv.Itoa(n.PID) + "-" + strconv.FormatUint(n.Start, 10) + suffix
}

// ID is how a source of that process is named: "pid:48213-991234".
func (n Name) ID() string { return "pid:" + strings.TrimSuffix(n.String(), suffix) }

// ParseName reads the name of a socket's file; ok is false for other files.
func ParseName(file string) (name Name, ok bool) {
	stem, isSocket := strings.CutSuffix(filepath.Base(file), suffix)
	pid, start, isPair := strings.Cut(stem, "-")
	if !isSocket || !isPair {
		return Name{}, false
	}
	p, err := strconv.ParseUint(pid, 10, 31)
	if err != nil {
		return Name{}, false
	}
	s, err := strconv.ParseUint(start, 10, 64)
	if err != nil || p == 0 {
		return Name{}, false
	}
	name = Name{PID: int(p), Start: s}
	return name, name.String() == filepath.Base(file)
}

// ParseID reads how a source of a process is named; ok is false for other sources.
func ParseID(id string) (name Name, ok bool) {
	stem, isProcess := strings.CutPrefix(id, "pid:")
	if !isProcess {
		return Name{}, false
	}
	return ParseName(stem + suffix)
}

// OwnName is this process's name.
func OwnName() (Name, error) {
	start, err := StartTime(os.Getpid())
	return Name{PID: os.Getpid(), Start: start}, err
}

// Gone says whether the process that the name means is not there any more:
// no process has its number, or one that started at another time, or it has
// ended and nobody has asked for its exit status yet. It says no where /proc
// cannot be read.
func (n Name) Gone() bool {
	state, start, err := processStat(n.PID)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) && procMounted()
	}
	return start != n.Start || state == 'Z' || state == 'X'
}

// image tells what a process was executed as from what it executed before and
// after: the kernel puts the parts of each at addresses of its own. A child has its
// parent's until it executes something. It is "" where it cannot be read.
func (n Name) image() string {
	if n.PID == 0 || n.Gone() {
		return ""
	}
	return Image(n.PID)
}

// Image is the same of the process with a number.
func Image(pid int) string {
	vector, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/auxv")
	if err != nil {
		return ""
	}
	return string(vector)
}

func procMounted() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// StartTime is when a process started, in clock ticks after boot (field 22 of
// /proc/PID/stat). The error wraps fs.ErrNotExist for a process that is gone.
func StartTime(pid int) (uint64, error) {
	_, start, err := processStat(pid)
	return start, err
}

func processStat(pid int) (state byte, start uint64, err error) {
	path := "/proc/" + strconv.Itoa(pid) + "/stat"
	text, err := os.ReadFile(path)
	if errors.Is(err, syscall.ESRCH) { // it went while the file was open
		return 0, 0, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return 0, 0, err
	}
	return parseStat(text)
}

// parseStat reads a process's state and start time from the text of its stat
// file.
func parseStat(text []byte) (state byte, start uint64, err error) {
	// The second field is the command's name in parentheses, and may hold
	// spaces and parentheses itself.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const first = 3 // the number of the first field that is left
	if len(fields) <= 22-first {
		return 0, 0, fmt.Errorf("a process's stat file has %d fields, not the 22 that a start time needs", len(fields)+first-1)
	}
	start, err = strconv.ParseUint(fields[22-first], 10, 64)
	return fields[0][0], start, err
}

// reason is an error without the path, which the sentence around it has.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
