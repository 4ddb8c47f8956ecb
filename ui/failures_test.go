package ui

import (
	"strings"
	"testing"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/ui/layout"
)

// failing is a program with failed allocations of so many GiB, one a second, of
// which the last is the last that it said.
func failing(t testing.TB, asked ...int64) *model.Snapshot {
	t.Helper()
	f := newPythonFixture(t)
	for _, n := range asked {
		f.ns += 10 * fixturePeriod
		f.say(&recorder.Sample{Sets: f.sets()})
		f.ns += fixturePeriod
		f.say(&recorder.OOM{ID: "torch:0", Asked: n * gib, Outcome: "torch raised"})
	}
	return f.snapshot()
}

// TestFailuresAreFoundFromTheEnd: the one that a program died of is its last word,
// and it stands on the screen; the key that does not find it names the one that does.
func TestFailuresAreFoundFromTheEnd(t *testing.T) {
	const later, earlier = "no failed allocation comes later: O goes to the one before", "no failed allocation comes before: o goes to the next one"
	for name, c := range map[string]struct {
		asked []int64
		keys  string
		want  []string // what is said after each key
	}{
		"none":     {nil, "oO", []string{"no failed allocation is known here", "no failed allocation is known here"}},
		"the only": {[]int64{50}, "oOOo", []string{later, "50.0 GiB", "this is the only failed allocation that is known here", "this is the only failed allocation that is known here"}},
		"of three": {[]int64{50, 60, 70}, "oOoOOOoOoo", []string{later, "70.0 GiB", later, "60.0 GiB", "50.0 GiB", earlier, "60.0 GiB", "50.0 GiB", "60.0 GiB", "70.0 GiB"}},
	} {
		d := newScreen(t, failing(t, c.asked...), layout.Timeline, 80, 24)
		for i, key := range c.keys {
			press(d, string(key))
			if !strings.Contains(d.message.text, c.want[i]) {
				t.Errorf("%s: key %d, %c, says %q, want %q", name, i, key, d.message.text, c.want[i])
			}
		}
	}
}
