package python_test

import (
	"testing"

	"vramscope/sources/probe/python/pythontest"
)

// A script that has the joined module in its path runs to its end and says
// nothing.
func TestTheModuleCanBeImported(t *testing.T) {
	p := pythontest.Start(t, "import vramscope_probe\nprint('there')\n", "VRAMSCOPE_PROBE=0")
	if line := p.Line(); line != "there" {
		t.Errorf("the script printed %q", line)
	}
	p.Quiet()
}
