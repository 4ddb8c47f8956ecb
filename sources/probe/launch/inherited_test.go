package launch_test

import (
	"os/exec"
	"strings"
	"testing"
)

// before ignores the signals of its first argument, blocks those of its second,
// and becomes the program in the others.
const before = `
import os, signal, sys
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_DFL)
    except (OSError, ValueError): pass
for number in map(int, sys.argv[1].split()): signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_SETMASK, map(int, sys.argv[2].split()))
os.execvp(sys.argv[3], sys.argv[3:])
`

// TestSignalsAreInherited: what nohup, a shell or a service ignores and blocks is
// ignored and blocked in the program, as it would be without a parent.
func TestSignalsAreInherited(t *testing.T) {
	const (
		terminals = "1 2 3 20 21 22 28"
		others    = "6 10 12 13 14 15 18 24 25 26 29 30 34 35 40 64"
	)
	for _, c := range []struct{ ignored, blocked string }{
		{"", ""}, {"1", ""}, {"2 3", ""}, {terminals, ""}, {others, ""}, {"", terminals}, {"", others + " 17 23 27"}, {terminals + " " + others, "2 12 15"},
	} {
		arguments := append([]string{"-c", before, c.ignored, c.blocked}, "grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")
		plain, err := exec.Command("python3", arguments...).Output()
		if err != nil {
			t.Fatal(err)
		}
		run := wrapper(t, "grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")
		through := exec.Command("python3", append([]string{"-c", before, c.ignored, c.blocked}, run.Args...)...)
		through.Env = run.Env
		got, err := through.CombinedOutput()
		if err != nil || string(got) != string(plain) || strings.Count(string(plain), "\n") != 2 {
			t.Errorf("%q ignored and %q blocked: the program has\n%snot\n%s%v", c.ignored, c.blocked, got, plain, err)
		}
	}
}

// TestIgnoredSignalsLeaveTheEndKnown: one that would take the program's end away
// is left out, and those that are ignored do not end the parent.
func TestIgnoredSignalsLeaveTheEndKnown(t *testing.T) {
	run := wrapper(t, "sh", "-c", "kill -TERM $PPID; kill -TERM $$; exit 5")
	through := exec.Command("python3", append([]string{"-c", before, "15 17", ""}, run.Args...)...)
	through.Env = run.Env
	text, _ := through.CombinedOutput()
	if code := through.ProcessState.ExitCode(); code != 5 || len(text) > 0 {
		t.Errorf("ends with %d: %s", code, text)
	}
}

// TestClosedDescriptorsStayTaken: where input or output is closed, a descriptor that
// the program's probe opens does not become one of them.
func TestClosedDescriptorsStayTaken(t *testing.T) {
	run := wrapper(t, "python3", "-c", "import os; os.write(2, '{} {}'.format(*map(os.readlink, ['/proc/self/fd/0', '/proc/self/fd/1'])).encode())")
	through := exec.Command("sh", append([]string{"-c", `exec "$@" <&- >&-`, "sh"}, run.Args...)...)
	through.Env = run.Env
	var said strings.Builder
	through.Stderr = &said
	if err := through.Run(); err != nil || said.String() != "/dev/null /dev/null" {
		t.Errorf("input and output are %q, %v", said.String(), err)
	}
}
