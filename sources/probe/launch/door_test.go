package launch_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vramscope/sources/probe/launch"
	"vramscope/sources/probe/python"
)

func openDoor(t *testing.T) *launch.Door {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return openAnother(t)
}

// openAnother opens a door where the environment says.
func openAnother(t *testing.T) *launch.Door {
	t.Helper()
	door, err := launch.Open(python.Files())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Close)
	return door
}

// withoutCache has no place for a lasting directory.
func withoutCache(t *testing.T) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", "not/absolute")
}

// TestPassingDoorIsTheUsersOwn: nobody else may look into the temporary
// directory, or put a module there; it goes when it is closed.
func TestPassingDoorIsTheUsersOwn(t *testing.T) {
	withoutCache(t)
	t.Setenv("TMPDIR", t.TempDir())
	door := openAnother(t)
	info, err := os.Lstat(door.Directory())
	if err != nil || info.Mode() != os.ModeDir|0o700 || filepath.Dir(door.Directory()) != os.Getenv("TMPDIR") {
		t.Errorf("the directory: %v, %v", info.Mode(), err)
	}
	for _, name := range []string{"vramscope_probe.py", "sitecustomize.py"} {
		if _, err := os.Stat(filepath.Join(door.Directory(), name)); err != nil {
			t.Error(err)
		}
	}
	door.Close()
	if _, err := os.Lstat(door.Directory()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after it was closed: %v", err)
	}
}

// TestDoorThatCannotBeMade: no temporary directory, none that PYTHONPATH could
// name, and a probe that cannot be written.
func TestDoorThatCannotBeMade(t *testing.T) {
	withoutCache(t)
	colon := filepath.Join(t.TempDir(), "a:b")
	if err := os.Mkdir(colon, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, temporary, says string
		files                 map[string]string
	}{
		{"no such directory", filepath.Join(t.TempDir(), "none"), "no such file", python.Files()},
		{"a colon", colon, "colon", python.Files()},
		{"a file that cannot be written", t.TempDir(), "no such file", map[string]string{"none/probe.py": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.temporary)
			_, err := launch.Open(c.files)
			var door *launch.DoorError
			if !errors.As(err, &door) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "TMPDIR") {
				t.Errorf("error: %v", err)
			}
			if left, _ := os.ReadDir(c.temporary); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestEnvironment: what the probe is told stands in the environment once, and
// the user's own variables stay.
func TestEnvironment(t *testing.T) {
	door := openDoor(t)
	d := door.Directory()
	outer := "/outer/door"
	const cold = "ALGAN_USE_DAEMON=0"
	for _, c := range []struct {
		name    string
		base    []string
		options launch.Options
		want    []string
	}{
		{"nothing", nil, launch.Options{}, []string{"PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"the user's path stays behind", []string{"A=1", "PYTHONPATH=/x:/y"}, launch.Options{},
			[]string{"A=1", "PYTHONPATH=" + d + ":/x:/y", "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"an empty path is none, not the working directory", []string{"PYTHONPATH="}, launch.Options{},
			[]string{"PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"an empty entry of the user's stays the working directory", []string{"PYTHONPATH=/x:"}, launch.Options{},
			[]string{"PYTHONPATH=" + d + ":/x:", "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"a run inside a run", []string{"PYTHONPATH=" + outer + ":/x", "VRAMSCOPE_TARGET=" + outer + ":mark"}, launch.Options{},
			[]string{"PYTHONPATH=" + d + ":/x", "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"a run of the same version inside a run", []string{"PYTHONPATH=" + d + ":/x", "VRAMSCOPE_TARGET=" + d + ":mark"}, launch.Options{},
			[]string{"PYTHONPATH=" + d + ":/x", "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"everything", []string{"VRAMSCOPE_RATE=2", "VRAMSCOPE_SOCKET_DIR=/s"},
			launch.Options{HideArgv: true, Rate: 2.5, TorchHistory: 1000, Snapshots: "/tmp/run", Recorded: true, Scopes: true},
			[]string{"VRAMSCOPE_SOCKET_DIR=/s", "PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + door.Target(), "VRAMSCOPE_HIDE_ARGV=1", "VRAMSCOPE_RATE=2.5",
				"VRAMSCOPE_TORCH_HISTORY=1000", "VRAMSCOPE_SNAPSHOTS=/tmp/run", "VRAMSCOPE_RECORDED=1", "VRAMSCOPE_SCOPES=1", cold}},
		{"what the user set is kept where nothing was asked", []string{"VRAMSCOPE_RATE=2"}, launch.Options{},
			[]string{"VRAMSCOPE_RATE=2", "PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + door.Target(), cold}},
		{"algan's switch is the user's where it is set", []string{"ALGAN_USE_DAEMON=1", "VRAMSCOPE_HAND_OFFS=/outer"}, launch.Options{HandOffs: "/marks"},
			[]string{"ALGAN_USE_DAEMON=1", "PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + door.Target(), "VRAMSCOPE_HAND_OFFS=/marks"}},
		{"empty it is not set, for algan too", []string{"ALGAN_USE_DAEMON= ", "VRAMSCOPE_HAND_OFFS=/outer"}, launch.Options{},
			[]string{"PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + door.Target(), cold}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := door.Environment(c.base, c.options); !slices.Equal(got, c.want) {
				t.Errorf("environment %q, want %q", got, c.want)
			}
		})
	}
}

// TestHolds: a program of the door's belongs to it, its children too, also when
// their parent has ended; others do not.
func TestHolds(t *testing.T) {
	door, other := openDoor(t), openAnother(t) // of one directory
	command := exec.Command("sleep", "600")
	command.Env = door.Environment(os.Environ(), launch.Options{})
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	if !door.Holds(command.Process.Pid) {
		t.Error("a program with the door's environment does not belong to it")
	}
	if !launch.Launched(command.Process.Pid) || launch.Launched(os.Getpid()) {
		t.Error("which programs were started with a door is not told")
	}
	if pids, err := launch.Processes(); err != nil || !slices.Contains(pids, command.Process.Pid) || slices.Contains(pids, os.Getpid()) {
		t.Errorf("programs that were started with a door: %v, %v", pids, err)
	}
	if !other.Holds(command.Process.Pid) {
		t.Error("a child of this process does not belong to it")
	}
	if of, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", command.Process.Pid)); err != nil || strings.Contains(string(of), other.Target()) {
		t.Errorf("the mark is not one run's alone: %v", err)
	}
	if door.Holds(os.Getppid()) || door.Holds(1) || door.Holds(-1) {
		t.Error("a program that was not started here belongs to it")
	}
}
