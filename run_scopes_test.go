package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// algansRender has an arena of algan's with a scope in it, once the recorder of the
// run is there and, with an argument, algan's own is armed.
const algansRender = `
import sys, time
import algan.utils.memory_utils as memory_utils
import vramscope_probe as probe  # waits where it is starting
while probe.SESSION.service is None:
    time.sleep(0.005)
while not probe.SESSION.service.server.watched or len(sys.argv) > 1 and not memory_utils.auto_record_enabled():
    time.sleep(0.005)
memory = memory_utils.ManualMemory(0.5, memory_utils.Device("cpu", None), num_bytes=1 << 20)
with memory.scope("trace", frames=8):
    memory.get_tensor((1 << 10,))
print(memory_utils.auto_record_enabled(), flush=True)
`

// TestRunRecordsScopesFromTheStart: the program's own recorders are armed before
// its first arena where the run is asked for that, and else are not.
func TestRunRecordsScopesFromTheStart(t *testing.T) {
	render := script(t, "render.py", algansRender)
	for _, c := range []struct {
		name      string
		flags     []string
		arguments []string
		armed     string
		scopes    int
		note      bool
	}{
		{"asked for", []string{"--scopes"}, []string{"armed"}, "True", 1, true},
		{"not asked for", nil, nil, "False", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			environment := append(testEnvironment(t), standIns(t)...)
			path := filepath.Join(t.TempDir(), "night.vscope")
			arguments := append(append([]string{"run", "--record", path}, c.flags...), "--", "python3", render)
			out, problems, code := runIn(t, environment, append(arguments, c.arguments...)...)
			if code != exitFine || strings.TrimSpace(out) != c.armed {
				t.Fatalf("ends with %d and %q: %s", code, out, problems)
			}
			if strings.Contains(problems, "half a KiB") != c.note {
				t.Errorf("what it costs: %q", problems)
			}
			scopes, told := 0, false
			for _, source := range reportOf(t, path).Sources {
				for _, arena := range source.Arenas {
					scopes += len(arena.Scopes)
				}
				for _, note := range source.Notes {
					told = told || strings.Contains(note.Text, "recorded from the start; keep the events")
				}
			}
			if scopes != c.scopes || told != c.note {
				t.Errorf("%d scopes are recorded, and the start is told: %v", scopes, told)
			}
		})
	}
}
