package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// house says which way the imports point: a folder (its sub-folders too,
// unless they have a line of their own) may import these folders of the
// project and, besides the standard library, these modules. main.go may
// import everything and nothing may import it.
var house = map[string]struct{ folders, modules []string }{
	"themes": {},
	"arena":  {},
	"pool":   {},
	"pool/cuda": {
		folders: []string{"pool"},
		modules: []string{"gorgonia.org/cu"},
	},
	"recorder": {
		folders: []string{"arena", "pool"},
		modules: []string{"github.com/klauspost/compress", "golang.org/x/sys"},
	},
	"recorder/open": {
		folders: []string{"recorder", "recorder/torchsnap", "recorder/algan"},
		modules: []string{"github.com/klauspost/compress", "golang.org/x/sys"},
	},
	"model": {folders: []string{"arena", "pool", "recorder"}},
	"sources": {
		folders: []string{"arena", "pool", "pool/cuda", "recorder", "recorder/open"},
		modules: []string{"github.com/NVIDIA/go-nvml", "github.com/fsnotify/fsnotify", "golang.org/x/sys"},
	},
	"sources/probe/launch": {
		folders: []string{"sources/probe/python"},
		modules: []string{"golang.org/x/sys"},
	},
	"sources/probe/attach": {
		folders: []string{"sources/probe", "sources/probe/python"},
		modules: []string{"golang.org/x/sys"},
	},
	"ui": {
		folders: []string{"model", "model/dump", "model/costs", "arena", "pool", "recorder", "themes"},
		modules: []string{
			"charm.land/bubbletea/v2", "charm.land/bubbles/v2", "charm.land/lipgloss/v2",
			"github.com/charmbracelet/colorprofile", "github.com/charmbracelet/x/ansi",
			"github.com/clipperhouse/displaywidth", "github.com/clipperhouse/uax29/v2",
			"github.com/mattn/go-runewidth", "github.com/rivo/uniseg", "golang.org/x/sys",
		},
	},
}

// testOnly are modules that tests may use anywhere.
var testOnly = []string{
	"pgregory.net/rapid", "go.uber.org/goleak", "github.com/google/go-cmp", "github.com/creack/pty",
	"github.com/charmbracelet/x/vt", "charm.land/lipgloss/v2", "github.com/klauspost/compress", "golang.org/x/sys",
	"github.com/nlpodyssey/gopickle",
}

// testFolders are folders of the project that only tests of the key may use
// besides.
var testFolders = map[string][]string{
	"pool":    {"arena", "recorder"},
	"sources": {"model", "pool/cuda/cudatest"},
	"model":   {"recorder/torchsnap", "recorder/algan"},
	"ui":      {"recorder/torchsnap", "recorder/algan"},
}

// TestImportsPointTheirWay holds the arrows of the house: what stands below
// never imports what stands above.
func TestImportsPointTheirWay(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		for _, problem := range forbiddenImports(t, path) {
			t.Errorf("%s: %s", path, problem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 20 {
		t.Fatalf("looked at %d files only: the walk does not see the house", files)
	}
}

// TestForbiddenEdgeIsSeen makes sure that the check above can fail.
func TestForbiddenEdgeIsSeen(t *testing.T) {
	for _, edge := range []struct{ from, imported string }{
		{"arena", "vramscope/recorder"},
		{"pool", "vramscope/arena"},
		{"recorder", "vramscope/model"},
		{"model", "vramscope/sources/nvml"},
		{"model", "charm.land/bubbletea/v2"},
		{"ui/grid", "vramscope/sources/file"},
		{"sources/file", "vramscope/ui"},
		{"ui", "vramscope"},
		{"themes", "vramscope/model"},
		{"pool", "gorgonia.org/cu"},
		{"sources/local", "gorgonia.org/cu"},
		{"elsewhere", "vramscope/arena"},
	} {
		if problem := checkEdge(edge.from, edge.imported, false); problem == "" {
			t.Errorf("%s may import %s, and should not", edge.from, edge.imported)
		}
	}
}

// TestOneFolderKnowsTheDriver keeps the binding in the one package that loads
// the driver with care: imported anywhere else, main's own folder included, it
// ends every program that starts without a GPU.
func TestOneFolderKnowsTheDriver(t *testing.T) {
	const binding, folder = "gorgonia.org/cu", "pool/cuda"
	importers := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			if imported, _ := strconv.Unquote(spec.Path.Value); within(imported, binding) {
				importers++
				if filepath.ToSlash(filepath.Dir(path)) != folder {
					t.Errorf("%s imports %s, which only %s may", path, imported, folder)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if importers == 0 {
		t.Errorf("nothing imports %s: the check sees no file of %s", binding, folder)
	}
}

func forbiddenImports(t *testing.T, path string) (problems []string) {
	folder := filepath.ToSlash(filepath.Dir(path))
	if folder == "." {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if problem := checkEdge(folder, imported, strings.HasSuffix(path, "_test.go")); problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// checkEdge says in words what is wrong with an import, "" when nothing is.
func checkEdge(folder, imported string, test bool) string {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") && first != "vramscope" {
		return "" // the standard library, and cgo
	}
	rules, top, known := rulesOf(folder)
	if !known {
		return "folder " + folder + " has no place in the house: give it a line in imports_test.go"
	}
	if first == "vramscope" {
		target := strings.TrimPrefix(strings.TrimPrefix(imported, "vramscope"), "/")
		switch {
		case target == "":
			return "nothing imports main"
		case within(target, top):
			return ""
		case test && slices.ContainsFunc(testFolders[firstPart(folder)], func(f string) bool { return within(target, f) }):
			return ""
		case slices.ContainsFunc(rules.folders, func(f string) bool { return target == f }):
			return ""
		}
		return "imports " + imported + ", which the arrows of the house forbid"
	}
	allowed := rules.modules
	if test {
		allowed = slices.Concat(allowed, testOnly)
	}
	if slices.ContainsFunc(allowed, func(m string) bool { return within(imported, m) }) {
		return ""
	}
	return "imports " + imported + ", which has no place in " + folder
}

// rulesOf finds the line of the house for a folder: its own or that of the
// nearest folder above it.
func rulesOf(folder string) (rules struct{ folders, modules []string }, top string, known bool) {
	for at := folder; at != "."; at = filepath.ToSlash(filepath.Dir(at)) {
		if rules, known = house[at]; known {
			return rules, at, true
		}
	}
	return rules, "", false
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func firstPart(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}
