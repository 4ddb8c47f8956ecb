package launch_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"vramscope/sources/probe/launch"
)

// startWaiting starts a shell, a child of which has another environment and waits
// until the test is over, and gives the numbers of both.
func startWaiting(t *testing.T, environment []string, change string) (shell, child int) {
	t.Helper()
	command := exec.Command("sh", "-c", change+` sh -c 'echo $$; read -r end; true'; true`)
	command.Env = environment
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait()
	})
	child, err = strconv.Atoi(linesOf(t, out).next())
	if err != nil {
		t.Fatal(err)
	}
	return command.Process.Pid, child
}

// TestBypassOf goes through what commands do with the environment that they were
// given.
func TestBypassOf(t *testing.T) {
	door := openDoor(t)
	for _, c := range []struct {
		change string
		want   string // "" for no bypass
	}{
		{"", ""},
		{`PYTHONPATH=/mine:$PYTHONPATH`, ""},
		{`PYTHONPATH=$PYTHONPATH:/mine`, ""},
		{"PYTHONPATH=/mine:/other", "set PYTHONPATH anew (/mine:/other)"},
		{"PYTHONPATH=${PYTHONPATH}x", "set PYTHONPATH anew (" + door.Directory() + "x)"},
		{"env -u PYTHONPATH", "PYTHONPATH, in which vramscope run had put the probe's directory, was taken out"},
		{"env -i", "was not passed on"},
		{`env -i PYTHONPATH="$PYTHONPATH"`, "was not passed on"},
	} {
		shell, child := startWaiting(t, door.Environment(os.Environ(), launch.Options{}), c.change)
		if !launch.IsOfRun(child) || !launch.IsOfRun(shell) {
			t.Errorf("%q: a process of the run is not known as one", c.change)
		}
		if bypass := launch.BypassOf(shell); bypass != nil {
			t.Errorf("the shell around %q: %v", c.change, bypass)
		}
		bypass, says := launch.BypassOf(child), ""
		if bypass != nil {
			says = bypass.String()
		}
		if (bypass != nil) != (c.want != "") || !strings.Contains(says, c.want) || bypass != nil && !strings.Contains(says, "vramscope_probe") {
			t.Errorf("%q: says %q, want %q", c.change, says, c.want)
		}
	}
	shell, child := startWaiting(t, os.Environ(), "")
	if launch.IsOfRun(shell) || launch.IsOfRun(child) {
		t.Error("a process that no run has started is one of a run")
	}
	if bypass := launch.BypassOf(-1); bypass != nil {
		t.Errorf("of a process that cannot be looked into is said %v", bypass)
	}
}
