package python_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"vramscope/sources/probe/python/pythontest"
)

// What a program meets that imports the one file: a docstring for its user in
// front, which names all that is offered, and no name of the probe's own.
func TestTheModuleShowsItsUserWhatIsOffered(t *testing.T) {
	p := pythontest.Start(t, `
import inspect
import vramscope_probe
offered = list(vramscope_probe.__all__)
assert len(offered) == len(set(offered)) == 9, offered
for name in offered:
    thing = getattr(vramscope_probe, name)
    assert callable(thing) and inspect.getdoc(thing), name
public = [name for name in dir(vramscope_probe) if not name.startswith("_")]
assert public == sorted(offered), public
scope = {}
exec("from vramscope_probe import *", scope)
assert sorted(name for name in scope if not name.startswith("_")) == sorted(offered), scope.keys()
doc = vramscope_probe.__doc__
assert doc.startswith("What a GPU program tells vramscope of itself."), doc[:80]
for name in offered:
    assert "\n    %s(" % name in doc, name
# Its example is Python.
start, end = doc.index("    import vramscope_probe"), doc.index("What there is")
compile(inspect.cleandoc("\n" + doc[start:end]), "example", "exec")
print("done")
`, "VRAMSCOPE_PROBE=0")
	if line := p.Line(); line != "done" {
		t.Fatal(line)
	}
	p.Quiet()
}

// The example of the docstring is that of the README, comments apart.
func TestTheModulesExampleIsTheReadmes(t *testing.T) {
	page, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "### Naming frames, scopes and arenas")
	_, example, fenced := strings.Cut(section, "```python\n")
	example, _, closed := strings.Cut(example, "```")
	if !found || !fenced || !closed {
		t.Fatal("the README has no example of naming frames, scopes and arenas")
	}
	told := regexp.MustCompile(`(?m)^ +`).ReplaceAllString(sources(t)["__init__"], "")
	for line := range strings.Lines(example) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(told, "\n"+line+"\n") {
			t.Errorf("the docstring's example lacks %q", line)
		}
	}
}
