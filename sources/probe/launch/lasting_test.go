package launch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"vramscope/sources/probe/launch"
)

// laid is a probe of little.
var laid = map[string]string{"vramscope_probe.py": "started = True\n", "sitecustomize.py": "import vramscope_probe\n"}

func open(t *testing.T) *launch.Door {
	t.Helper()
	door, err := launch.Open(laid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(door.Close)
	return door
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// TestLastingDoor: the second run finds what the first has laid down, with the
// bytecode that Python left there.
func TestLastingDoor(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	door := open(t)
	d := door.Directory()
	if filepath.Dir(d) != filepath.Join(cache, "vramscope") {
		t.Fatalf("it lies in %s", d)
	}
	if info, err := os.Lstat(d); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("the directory: %v, %v", info.Mode(), err)
	}
	start := exec.Command("python3", "-c", "")
	start.Env = door.Environment([]string{"PATH=" + os.Getenv("PATH")}, launch.Options{})
	if text, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	bytecode, _ := filepath.Glob(filepath.Join(d, "__pycache__", "vramscope_probe.*.pyc"))
	if len(bytecode) != 1 {
		t.Fatalf("bytecode: %v", bytecode)
	}
	before, err := os.Stat(filepath.Join(d, "vramscope_probe.py"))
	if err != nil {
		t.Fatal(err)
	}
	door.Close()
	again := open(t)
	after, err := os.Stat(filepath.Join(d, "vramscope_probe.py"))
	if err != nil || again.Directory() != d || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the second run: %s, %v", again.Directory(), err)
	}
	if _, err := os.Stat(bytecode[0]); err != nil {
		t.Error(err)
	}
	if again.Target() == door.Target() {
		t.Error("two runs have the same mark")
	}
}

// TestLastingDoorTrustsNothing: a file that is not what it was is laid down
// anew, and no directory of others is used.
func TestLastingDoorTrustsNothing(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.py")
	for _, c := range []struct {
		name   string
		spoil  func(t *testing.T, directory, module string)
		passes bool // to a temporary directory
	}{
		{"another text", func(t *testing.T, _, module string) { write(t, module, "started = Fals", 0o600) }, false},
		{"a longer text", func(t *testing.T, _, module string) { write(t, module, laid["vramscope_probe.py"]+"x", 0o600) }, false},
		{"gone", func(t *testing.T, _, module string) { _ = os.Remove(module) }, false},
		{"a link", func(t *testing.T, _, module string) {
			write(t, elsewhere, laid["vramscope_probe.py"], 0o600)
			_ = os.Remove(module)
			if err := os.Symlink(elsewhere, module); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"others may write", func(t *testing.T, _, module string) { _ = os.Chmod(module, 0o666) }, false},
		{"others may look in", func(t *testing.T, directory, _ string) { _ = os.Chmod(directory, 0o755) }, true},
		{"others may change the names", func(t *testing.T, directory, _ string) { _ = os.Chmod(filepath.Dir(directory), 0o777) }, true},
		{"a linked directory", func(t *testing.T, directory, _ string) {
			if err := os.Rename(directory, directory+".moved"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(directory+".moved", directory); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a file in the directory's place", func(t *testing.T, directory, _ string) {
			_ = os.RemoveAll(directory)
			write(t, directory, "", 0o600)
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			t.Setenv("TMPDIR", t.TempDir())
			first := open(t).Directory()
			if err := os.Mkdir(filepath.Join(first, "__pycache__"), 0o700); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, first, filepath.Join(first, "vramscope_probe.py"))
			second := open(t).Directory()
			if passes := second != first; passes != c.passes {
				t.Fatalf("the second run lies in %s, the first in %s", second, first)
			}
			for name, want := range laid {
				info, err := os.Lstat(filepath.Join(second, name))
				text, _ := os.ReadFile(filepath.Join(second, name))
				if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != 0o600 || string(text) != want {
					t.Errorf("%s: %v, %q, %v", name, info, text, err)
				}
			}
			if _, err := os.Stat(filepath.Join(second, "__pycache__")); err == nil {
				t.Error("bytecode of another text is still there")
			}
			if left, _ := filepath.Glob(filepath.Join(second, ".laying-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestLastingDoorLeavesTheHomesOfOthersAlone: root keeps a user's HOME under sudo
// on some machines, and what it makes there would be nobody else's.
func TestLastingDoorLeavesTheHomesOfOthersAlone(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	for _, c := range []struct {
		name  string
		has   bool // a cache directory
		owner int
		used  bool
	}{
		{"another's home", false, 65534, false},
		{"another's cache", true, 65534, false},
		{"a home of one's own", false, 0, true},
		{"a cache of one's own", true, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			cache := filepath.Join(home, ".cache")
			given := []string{home}
			if c.has {
				if err := os.Mkdir(cache, 0o700); err != nil {
					t.Fatal(err)
				}
				given = append(given, cache)
			}
			for _, path := range given {
				if err := os.Chown(path, c.owner, -1); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("XDG_CACHE_HOME", "")
			t.Setenv("HOME", home)
			t.Setenv("TMPDIR", t.TempDir())
			directory := open(t).Directory()
			if used := filepath.Dir(directory) == filepath.Join(cache, "vramscope"); used != c.used {
				t.Errorf("it lies in %s", directory)
			}
			if _, err := os.Stat(filepath.Join(cache, "vramscope")); (err == nil) != c.used {
				t.Errorf("in the cache: %v", err)
			}
		})
	}
}

// TestLastingDoorRemovesOldOnes: what no run has used for a month goes, unless
// a program still has it in its environment.
func TestLastingDoorRemovesOldOnes(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	home := filepath.Dir(open(t).Directory())
	old := time.Now().Add(-31 * 24 * time.Hour)
	inUse := filepath.Join(home, "probe-00000000000000aa")
	running := exec.Command("sleep", "600")
	running.Env = append(os.Environ(), launch.TargetVariable+"="+inUse+":mark")
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = running.Process.Kill()
		_ = running.Wait()
	})
	for name, c := range map[string]struct {
		age   time.Time
		stays bool
	}{
		"probe-00000000000000bb": {old, false},
		"probe-00000000000000cc": {time.Now().Add(-29 * 24 * time.Hour), true},
		"probe-of-the-user":      {old, true},
		"recordings":             {old, true},
		filepath.Base(inUse):     {old, true},
	} {
		path := filepath.Join(home, name)
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(path, "vramscope_probe.py"), "", 0o600)
		if err := os.Chtimes(path, c.age, c.age); err != nil {
			t.Fatal(err)
		}
		own := open(t).Directory()
		if _, err := os.Stat(path); (err == nil) != c.stays {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(own); err != nil {
			t.Error(err)
		}
	}
}
