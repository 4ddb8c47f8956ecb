package python_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vramscope/sources/probe/python"
	"vramscope/sources/probe/python/pythontest"
)

// sources are the files of the package, by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("vramscope_probe/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no parts: %v", err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(file), ".py")] = string(text)
	}
	return texts
}

var partImport = regexp.MustCompile(`^from \.[a-z_]+ import [A-Za-z_]+(, [A-Za-z_]+)*$`)

// What parts take from one another stands in one-line imports at the left edge,
// which can be dropped when the parts are joined; no other form is used.
func TestPartsNameWhatTheyTakeOnOneLine(t *testing.T) {
	for part, text := range sources(t) {
		if part == "__init__" { // its docstring shows how a program imports it
			_, text, _ = strings.Cut(strings.TrimPrefix(text, `"""`), `"""`)
		}
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			relative := strings.Contains(line, "from .") || strings.Contains(line, "import .") || strings.Contains(line, "import vramscope_probe")
			if trimmed := strings.TrimSpace(line); relative && strings.HasPrefix(trimmed, "from") || strings.HasPrefix(trimmed, "import vramscope_probe") {
				if !partImport.MatchString(line) {
					t.Errorf("%s.py: %q cannot be dropped when the parts are joined", part, line)
				}
			}
		}
	}
}

// definitions prints "name part" for everything that a part defines at its top
// level, the modules that it imports apart, and "take part name" for what it
// takes from other parts.
const definitions = `
import ast, sys
for path in sys.argv[1:]:
    part = path.rsplit("/", 1)[1][:-3]
    tree = ast.parse(open(path).read())
    def names(body):
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                yield node.name
            elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                for target in getattr(node, "targets", None) or [node.target]:
                    for name in ast.walk(target):
                        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                            yield name.id
            elif isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    print("take", part, alias.name, alias.asname or alias.name, node.module)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    print("module", part, (alias.asname or alias.name).split(".")[0], alias.name)
            elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
                for inner in ("body", "orelse", "finalbody"):
                    yield from names(getattr(node, inner, None) or [])
                for handler in getattr(node, "handlers", []):
                    yield from names(handler.body)
    for name in set(names(tree.body)):
        print("define", part, name)
`

// In the joined file all parts share one namespace.
func TestNoNameIsDefinedByTwoParts(t *testing.T) {
	files, err := filepath.Glob("vramscope_probe/*.py")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(pythontest.Interpreter(t), append([]string{"-c", definitions}, files...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	defined, modules := map[string]string{}, map[string]string{}
	type taking struct{ part, name, as, from string }
	var taken []taking
	for scanner := bufio.NewScanner(strings.NewReader(string(out))); scanner.Scan(); {
		switch f := strings.Fields(scanner.Text()); f[0] {
		case "define":
			if other, twice := defined[f[2]]; twice && !strings.HasPrefix(f[2], "__") {
				t.Errorf("%s is defined in %s.py and in %s.py: they would be one when the parts are joined", f[2], other, f[1])
			}
			defined[f[2]] = f[1]
		case "module":
			if other, known := modules[f[2]]; known && other != f[3] {
				t.Errorf("%s.py: %s is the module %s here and %s elsewhere", f[1], f[2], f[3], other)
			}
			modules[f[2]] = f[3]
		case "take":
			taken = append(taken, taking{f[1], f[2], f[3], f[4]})
		}
	}
	for name, part := range defined {
		if module, both := modules[name]; both {
			t.Errorf("%s.py defines %s, which is the module %s in another part", part, name, module)
		}
	}
	for _, take := range taken {
		if take.name != take.as || defined[take.name] != take.from {
			t.Errorf("%s.py takes %s from %s as %s, where it is defined in %q", take.part, take.name, take.from, take.as, defined[take.name])
		}
	}
	if len(defined) < 40 || len(taken) < 20 {
		t.Errorf("looked at %d names and %d imports only", len(defined), len(taken))
	}
}

func TestEveryPartIsJoined(t *testing.T) {
	module := python.Module()
	for part, text := range sources(t) {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "class ") || strings.HasPrefix(line, "def ") {
				if !strings.Contains(module, line) {
					t.Errorf("%s.py is not in the joined module: add it to the list in python.go", part)
				}
				break
			}
		}
	}
	if strings.Contains(module, "from .") && regexp.MustCompile(`(?m)^\s*from \.`).MatchString(module) {
		t.Error("the joined module still imports parts")
	}
}

// interpreters are all Pythons from 3.9 on that this machine has, by their real
// path.
func interpreters(t *testing.T) []string {
	t.Helper()
	candidates := []string{pythontest.Interpreter(t)}
	if home, err := os.UserHomeDir(); err == nil {
		versions, _ := filepath.Glob(filepath.Join(home, ".pyenv", "versions", "*", "bin", "python3"))
		candidates = append(candidates, versions...)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, _ := filepath.Glob(filepath.Join(dir, "python3*"))
		candidates = append(candidates, found...)
	}
	name := regexp.MustCompile(`^python3(\.[0-9]+)?$`)
	known := map[string]bool{}
	for _, candidate := range candidates {
		if !name.MatchString(filepath.Base(candidate)) {
			continue
		}
		out, err := exec.Command(candidate, "-I", "-c", "import sys, os; print(os.path.realpath(sys.executable) if sys.version_info >= (3, 9) else '')").Output()
		if path := strings.TrimSpace(string(out)); err == nil && path != "" {
			known[path] = true
		}
	}
	var paths []string
	for path := range known {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	return paths
}

// What is delivered compiles, starts and ends silently under every Python, with
// all warnings shown, and forks without a word about threads.
func TestTheModuleStartsUnderEveryPython(t *testing.T) {
	const script = `
import os, sys
import vramscope_probe
vramscope_probe.poll()
assert vramscope_probe.problem() == "", vramscope_probe.problem()
for _ in range(3):
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("%d.%d" % sys.version_info[:2])
sys.stdin.read()
`
	for _, path := range interpreters(t) {
		t.Run(path, func(t *testing.T) {
			p := pythontest.StartWith(t, script, pythontest.Options{Interpreter: path, Flags: []string{"-W", "default", "-X", "dev"}})
			t.Log("Python " + p.Line())
			p.Path()
			p.Quiet()
		})
	}
}
