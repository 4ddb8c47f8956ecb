package launch_test

import (
	"errors"
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
	door, err := launch.Open(python.WriteTo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Close)
	return door
}

// TestDoorIsTheUsersOwn: nobody else may look into the directory, or put a
// module there; it goes when it is closed.
func TestDoorIsTheUsersOwn(t *testing.T) {
	door := openDoor(t)
	info, err := os.Lstat(door.Directory())
	if err != nil || info.Mode() != os.ModeDir|0o700 {
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
	colon := filepath.Join(t.TempDir(), "a:b")
	if err := os.Mkdir(colon, 0o700); err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left")
	for _, c := range []struct {
		name, temporary, says string
		write                 func(string) error
	}{
		{"no such directory", filepath.Join(t.TempDir(), "none"), "no such file", python.WriteTo},
		{"a colon", colon, "colon", python.WriteTo},
		{"a full disk", t.TempDir(), "no space left", func(string) error { return full }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.temporary)
			_, err := launch.Open(c.write)
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
	for _, c := range []struct {
		name    string
		base    []string
		options launch.Options
		want    []string
	}{
		{"nothing", nil, launch.Options{}, []string{"PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + d}},
		{"the user's path stays behind", []string{"A=1", "PYTHONPATH=/x:/y"}, launch.Options{},
			[]string{"A=1", "PYTHONPATH=" + d + ":/x:/y", "VRAMSCOPE_TARGET=" + d}},
		{"an empty path is none, not the working directory", []string{"PYTHONPATH="}, launch.Options{},
			[]string{"PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + d}},
		{"an empty entry of the user's stays the working directory", []string{"PYTHONPATH=/x:"}, launch.Options{},
			[]string{"PYTHONPATH=" + d + ":/x:", "VRAMSCOPE_TARGET=" + d}},
		{"a run inside a run", []string{"PYTHONPATH=" + outer + ":/x", "VRAMSCOPE_TARGET=" + outer}, launch.Options{},
			[]string{"PYTHONPATH=" + d + ":/x", "VRAMSCOPE_TARGET=" + d}},
		{"everything", []string{"VRAMSCOPE_RATE=2", "VRAMSCOPE_SOCKET_DIR=/s"},
			launch.Options{HideArgv: true, Rate: 2.5, TorchHistory: 1000, Snapshots: "/tmp/run"},
			[]string{"VRAMSCOPE_SOCKET_DIR=/s", "PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + d, "VRAMSCOPE_HIDE_ARGV=1", "VRAMSCOPE_RATE=2.5",
				"VRAMSCOPE_TORCH_HISTORY=1000", "VRAMSCOPE_SNAPSHOTS=/tmp/run"}},
		{"what the user set is kept where nothing was asked", []string{"VRAMSCOPE_RATE=2"}, launch.Options{},
			[]string{"VRAMSCOPE_RATE=2", "PYTHONPATH=" + d, "VRAMSCOPE_TARGET=" + d}},
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
	door, other := openDoor(t), openDoor(t)
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
	if door.Holds(os.Getppid()) || door.Holds(1) || door.Holds(-1) {
		t.Error("a program that was not started here belongs to it")
	}
}
