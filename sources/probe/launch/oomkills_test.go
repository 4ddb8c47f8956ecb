package launch

import (
	"syscall"
	"testing"
)

// TestOutOfMemoryKills reads the kernel's count, where there is one.
func TestOutOfMemoryKills(t *testing.T) {
	for text, want := range map[string]int64{
		"nr_free_pages 12\noom_kill 3\nnuma_hit 4\n": 3,
		"oom_kill 0":                        0,
		"nr_oom_kill 7\n":                   -1,
		"oom_kill many\n":                   -1,
		"oom_kill 9999999999999999999999\n": -1,
		"":                                  -1,
	} {
		count, known := oomKills([]byte(text))
		if known != (want >= 0) || known && count != want {
			t.Errorf("%q: %d, %v, want %d", text, count, known, want)
		}
	}
}

// TestPerhapsOutOfMemory: only a kill at a time when the kernel killed for
// memory is one perhaps; the code of a shell whose child was killed counts.
func TestPerhapsOutOfMemory(t *testing.T) {
	for _, c := range []struct {
		exit          Exit
		before, after int64
		want          bool
	}{
		{Exit{Signal: syscall.SIGKILL}, 1, 2, true},
		{Exit{Code: 137}, 1, 2, true},
		{Exit{Signal: syscall.SIGKILL}, 2, 2, false},
		{Exit{Signal: syscall.SIGTERM}, 1, 2, false},
		{Exit{Code: 1}, 1, 2, false},
	} {
		if got := c.exit.PerhapsOutOfMemory(c.before, c.after); got != c.want {
			t.Errorf("%v from %d to %d: %v", c.exit, c.before, c.after, got)
		}
	}
}
