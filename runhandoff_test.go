package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// alganDaemonHere starts what is algan's daemon by its command line, without a
// probe, and gives its number.
func alganDaemonHere(t *testing.T, environment []string) int {
	t.Helper()
	daemon := exec.Command("python3", "-m", "algan.daemon")
	daemon.Env = environment
	in, out := converse(t, daemon)
	t.Cleanup(func() {
		_ = in.Close()
		_ = daemon.Wait()
	})
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the daemon says %q, %v", line, err)
	}
	return daemon.Process.Pid
}

// TestRunKeepsAlgansScripts: algan's daemon is none of the run's, so that scripts
// render in their own process; where the user wants it otherwise, the run says
// that it saw nothing, and doctor says why.
func TestRunKeepsAlgansScripts(t *testing.T) {
	home := t.TempDir()
	environment := append(append(testEnvironment(t), standIns(t)...), "ALGAN_HOME="+home)
	daemon := alganDaemonHere(t, environment)
	render := script(t, "scene.py", "import algan, os\nprint('here', os.environ.get('ALGAN_USE_DAEMON'))\n")
	for _, c := range []struct {
		name, state string
		set         []string
		command     []string
		out         string
		code        int
		says        bool
	}{
		{"by default", `{"code": 7}`, nil, []string{"python3", render}, "here 0\n", 0, false},
		{"the user wants the daemon", `{"code": 7}`, []string{"ALGAN_USE_DAEMON=1"}, []string{"python3", render}, "", 7, true},
		{"in a child", `{"code": 7}`, []string{"ALGAN_USE_DAEMON=1"}, []string{"sh", "-c", "python3 " + render + "; exit 4"}, "", 4, true},
		{"the daemon refuses", `{"refuses": true}`, []string{"ALGAN_USE_DAEMON=1"}, []string{"python3", render}, "here 1\n", 0, false},
		{"no script", `{"code": 7}`, []string{"ALGAN_USE_DAEMON=1"}, []string{"python3", "-c", "import algan; print('here')"}, "here\n", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := strings.Replace(c.state, "}", fmt.Sprintf(`, "pid": %d}`, daemon), 1)
			if err := os.WriteFile(filepath.Join(home, "daemon.json"), []byte(state), 0o600); err != nil {
				t.Fatal(err)
			}
			temporary := t.TempDir()
			variables := append(append(environment, c.set...), "TMPDIR="+temporary)
			out, problems, code := runIn(t, variables, append([]string{"run", "--"}, c.command...)...)
			if out != c.out || code != c.code {
				t.Errorf("the program printed %q and ended with %d, want %q and %d: %s", out, code, c.out, c.code, problems)
			}
			why := fmt.Sprintf("scene.py was handed to algan's daemon, process %d, which has no probe", daemon)
			if said := strings.Contains(problems, why) && strings.Contains(problems, daemonWithProbe); said != c.says || !c.says && problems != "" {
				t.Errorf("the run says %q", problems)
			}
			if left, _ := os.ReadDir(temporary); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	out, _, _ := runIn(t, environment, "doctor")
	if !strings.Contains(out, fmt.Sprintf("process %d, algan.daemon: algan's daemon, without a probe", daemon)) || !strings.Contains(out, daemonWithProbe) {
		t.Errorf("doctor says of the daemon:\n%s", out)
	}
}

// TestHandedOff: what is said goes by the daemons that are there.
func TestHandedOff(t *testing.T) {
	for _, c := range []struct {
		daemons []alganDaemon
		says    string
	}{
		{nil, "which is gone"},
		{[]alganDaemon{{12, true}}, "process 12, since ALGAN_USE_DAEMON is set: it lives on with a probe"},
		{[]alganDaemon{{12, false}, {13, false}}, "process 12 or 13, which has no probe"},
		{[]alganDaemon{{12, true}, {13, false}}, "process 13, which has no probe"},
	} {
		if said := handedOff("scene.py", c.daemons); !strings.Contains(said, c.says) {
			t.Errorf("%v: %s", c.daemons, said)
		}
	}
}
