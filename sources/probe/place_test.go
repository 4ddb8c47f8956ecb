package probe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// TestDirectoryOrder: the setting, then the runtime directory, then /tmp.
func TestDirectoryOrder(t *testing.T) {
	root := t.TempDir()
	runtime := filepath.Join(root, "run")
	open := filepath.Join(root, "open")
	setting := filepath.Join(root, "setting")
	mkdir(t, runtime, 0o700)
	mkdir(t, open, 0o755)
	temporary := filepath.Join(root, "tmp")
	mkdir(t, temporary, 0o777)
	inTemporary := filepath.Join(temporary, "vramscope-"+userID())

	for _, c := range []struct {
		name string
		env  func(string) string
		want string
	}{
		{"the setting wins", environment(DirectoryVariable, setting, "XDG_RUNTIME_DIR", runtime), setting},
		{"the runtime directory", environment("XDG_RUNTIME_DIR", runtime), filepath.Join(runtime, "vramscope")},
		{"a runtime directory open to others is ignored", environment("XDG_RUNTIME_DIR", open), inTemporary},
		{"a runtime directory that is not there is ignored", environment("XDG_RUNTIME_DIR", filepath.Join(root, "no")), inTemporary},
		{"a relative runtime directory is ignored", environment("XDG_RUNTIME_DIR", "run"), inTemporary},
		{"nothing set", environment(), inTemporary},
	} {
		got, err := directory(c.env, temporary)
		if err != nil || got != c.want {
			t.Errorf("%s: directory = %q, %v; want %q", c.name, got, err, c.want)
		}
		if info, err := os.Lstat(c.want); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: the directory has mode %v, %v; want 0700", c.name, info.Mode(), err)
		}
	}
}

func TestDirectoryRefusesWhatOthersCouldReach(t *testing.T) {
	root := t.TempDir()
	target := filepath.Join(root, "target")
	mkdir(t, target, 0o700)
	link := filepath.Join(root, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	group := filepath.Join(root, "group")
	mkdir(t, group, 0o710)

	for _, c := range []struct{ path, want string }{
		{link, "is a symbolic link"},
		{file, "is not a directory"},
		{group, "is open to others (mode 0710)"},
		{filepath.Join(root, "no", "parent"), "cannot be made (no such file or directory)"},
	} {
		_, err := directory(environment(DirectoryVariable, c.path), "/tmp")
		var refused *DirectoryError
		if !errors.As(err, &refused) || refused.Reason != c.want {
			t.Errorf("directory(%s) = %v, want a refusal that it %s", c.path, err, c.want)
		}
	}
}

// TestDirectoryLeavesRoomForEveryName: the longest that takes any process's socket
// is taken, one byte more is refused, and nothing is made there.
func TestDirectoryLeavesRoomForEveryName(t *testing.T) {
	root := t.TempDir()
	room := MaxPath - len(longestName().String()) - len("/")
	for _, more := range []int{0, 1} {
		path := filepath.Join(root, strings.Repeat("x", room-len(root)-len("/")+more))
		_, err := directory(environment(DirectoryVariable, path), "/tmp")
		var long *PathLengthError
		if errors.As(err, &long) != (more == 1) || more == 0 && err != nil {
			t.Errorf("%d bytes: %v", len(path), err)
		}
		if _, err := os.Lstat(path); (err == nil) != (more == 0) {
			t.Errorf("%d bytes: the directory: %v", len(path), err)
		}
	}
}

// TestRelativePlaces: this process's is told from the root on, another's is
// relative to where that one is.
func TestRelativePlaces(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	relative := environment(DirectoryVariable, "./s")
	if got, err := directory(relative, "/tmp"); err != nil || got != filepath.Join(root, "s") {
		t.Errorf("directory = %q, %v", got, err)
	}
	if got := PlaceOf(relative, "/render"); got != "/render/s" {
		t.Errorf("another's is %q", got)
	}
	if got := PlaceOf(environment(DirectoryVariable, "/x/"), "/render"); got != "/x" {
		t.Errorf("another's is %q", got)
	}
}

func TestDirectoryOfSomebodyElseIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		// The rule can only be seen from root, who alone can give a directory
		// away; what root owns stands for it otherwise.
		if err := checkDirectory("/"); err == nil {
			t.Error("root's directory was taken for our own")
		}
		return
	}
	dir := filepath.Join(t.TempDir(), "theirs")
	mkdir(t, dir, 0o700)
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	_, err := directory(environment(DirectoryVariable, dir), "/tmp")
	if err == nil || !strings.Contains(err.Error(), "belongs to user 65534, not to 0") {
		t.Errorf("directory = %v, want a refusal that names its owner", err)
	}
}

func TestNamesOfSockets(t *testing.T) {
	name := Name{PID: 48213, Start: 991234}
	if got := name.String(); got != "48213-991234.sock" {
		t.Errorf("String() = %q", got)
	}
	if got := name.ID(); got != "pid:48213-991234" {
		t.Errorf("ID() = %q", got)
	}
	if got, ok := ParseName("/run/user/1000/vramscope/48213-991234.sock"); !ok || got != name {
		t.Errorf("ParseName = %v, %v", got, ok)
	}
	for _, other := range []string{"", ".sock", "1.sock", "0-1.sock", "-1-1.sock", "1-.sock", "01-1.sock", "1-1.sock.tmp",
		"1-1", "1-2-3.sock", "99999999999-1.sock", "1-18446744073709551616.sock", "a-1.sock", "+1-1.sock"} {
		if got, ok := ParseName(other); ok {
			t.Errorf("ParseName(%q) = %v, want none", other, got)
		}
	}
}

func TestStartTimeIsThatOfTheProcess(t *testing.T) {
	own, err := OwnName()
	if err != nil {
		t.Fatal(err)
	}
	if own.PID != os.Getpid() || own.Start == 0 || own.Gone() {
		t.Errorf("OwnName() = %v, gone %v", own, own.Gone())
	}
	if later := (Name{PID: own.PID, Start: own.Start + 1}); !later.Gone() {
		t.Error("a process that started at another time is taken for this one")
	}
	if _, err := StartTime(1 << 30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("StartTime of no process = %v, want ErrNotExist", err)
	}
	if gone := (Name{PID: 1 << 30, Start: 1}); !gone.Gone() {
		t.Error("a process that cannot be is taken for a living one")
	}
}

func TestTooLongAPathIsOneSentence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", 100))
	mkdir(t, dir, 0o700)
	_, err := Listen(Options{Path: filepath.Join(dir, "1-1.sock")}, nil)
	var long *PathLengthError
	if !errors.As(err, &long) || !strings.HasSuffix(err.Error(), "set VRAMSCOPE_SOCKET_DIR to a shorter directory") {
		t.Errorf("Listen = %v, want a *PathLengthError that says what to do", err)
	}
}

func mkdir(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the mask is
		t.Fatal(err)
	}
}
