package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vramscope/sources/probe/launch"
	"vramscope/sources/probe/python"
)

// TestRunSaysWhatKeptTheProbeOut of a process that has ended by then, and rather of
// one that had a GPU library.
func TestRunSaysWhatKeptTheProbeOut(t *testing.T) {
	for _, variable := range testEnvironment(t) {
		if name, value, _ := strings.Cut(variable, "="); name == "XDG_CACHE_HOME" || name == "VRAMSCOPE_SOCKET_DIR" {
			t.Setenv(name, value)
		}
	}
	door, err := launch.Open(python.Files())
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	library := torchStandIn(t)
	const waits = `import os; print(os.getpid(), flush=True); os.read(0, 1)`
	mapping := fmt.Sprintf("import mmap, os; mapped = mmap.mmap(os.open(%q, os.O_RDWR), 0); ", library) + waits
	l := &lookout{door: door, stop: func() {}}
	for _, c := range []struct{ script, program, says string }{
		{`python3 -c "$0"; true`, waits, "it comes with a GPU library"},
		{`python3 -I -c "$0"; true`, waits, "the probe cannot enter, since python3 -I"},
		{`PYTHONPATH=/mine python3 -c "$0"; true`, mapping, "the command set PYTHONPATH anew (/mine)"},
		{`python3 -S -c "$0"; true`, mapping, "the command set PYTHONPATH anew (/mine)"}, // the first of two
	} {
		command := exec.Command("sh", "-c", c.script, c.program)
		command.Env = door.Environment(os.Environ(), launch.Options{})
		in, out := converse(t, command)
		pid := 0
		if _, err := fmt.Fscan(out, &pid); err != nil {
			t.Fatal(err)
		}
		l.look()
		_ = in.Close()
		_ = command.Wait()
		var problems bytes.Buffer
		r := &programRun{program: &program{problems: &problems}, flags: &runFlags{}, door: door, lookout: l}
		r.sayRecorded(0, 0, nil)
		if text := problems.String(); !strings.Contains(text, "nothing was recorded, since no probe spoke: ") || !strings.Contains(text, c.says) {
			t.Errorf("%s: says %q, want %q", c.script, text, c.says)
		}
	}
}

// TestWhatIsKeptOutIsNotWaitedFor by a dashboard that waits for a program to come.
func TestWhatIsKeptOutIsNotWaitedFor(t *testing.T) {
	environment := testEnvironment(t)
	for _, variable := range environment {
		if name, value, _ := strings.Cut(variable, "="); name == "XDG_CACHE_HOME" || name == "VRAMSCOPE_SOCKET_DIR" {
			t.Setenv(name, value)
		}
	}
	for option, comes := range map[string]bool{"-u": true, "-I": false} {
		command := exec.Command(binary(t), "run", "--", "sh", "-c", "python3 "+option+` -c "import os; print(os.getpid(), flush=True); os.read(0, 1)"; true`)
		command.Env = environment
		in, out := converse(t, command)
		pid := 0
		if _, err := fmt.Fscan(out, &pid); err != nil {
			t.Fatal(err)
		}
		if process := comingProgram(); (process != nil && process.PID == pid) != comes {
			t.Errorf("of a Python with %s comes %v", option, process)
		}
		_ = in.Close()
		_ = command.Wait()
	}
}

// TestLooksEndWithTheRun and not before: what they have found is asked for then.
func TestLooksEndWithTheRun(t *testing.T) {
	door, err := launch.Open(python.Files())
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	if found := watchKeptOut(context.Background(), door, nil).end(); found != "" {
		t.Errorf("in a run without a process is found %q", found)
	}
}
