// Package python holds the probe that goes into a Python process. In the
// repository it is a package with one idea a file; what the program delivers
// is one file, which needs nothing but Python's standard library.
package python

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed vramscope_probe/*.py sitecustomize.py
var files embed.FS

// ModuleName is the name under which the probe is imported. Its file is
// ModuleName + ".py".
const ModuleName = "vramscope_probe"

// parts are the files of the package in the order in which they are joined: a
// part only uses names of those before it.
var parts = []string{
	"adapter",
	"outlet",
	"wire",
	"background",
	"descriptors",
	"place",
	"backlog",
	"ledger",
	"reader",
	"server",
	"identity",
	"pending",
	"main_thread",
	"device",
	"device_memory",
	"resident_set",
	"pressure",
	"peaks",
	"torch_failures",
	"torch_allocator",
	"torch_private_pools",
	"cupy_allocator",
	"rmm_allocator",
	"jax_allocator",
	"default_pool",
	"names",
	"scope_tree",
	"arena_events",
	"unseen_moves",
	"arena_record",
	"scopes",
	"arena_adapter",
	"algan_replay",
	"algan_adapter",
	"vibespatial_adapter",
	"calibration",
	"release",
	"safepoint",
	"told_last",
	"sampler",
	"service",
	"session",
	"__init__",
}

// Module is the probe as one Python file.
//
// The parts name what they take from one another in one-line imports
// ("from .adapter import Adapter"), which have no place in a single file, where
// every part sees the names of those before it. In front stands what the package
// tells its user, which is what help() shows.
func Module() string {
	var module strings.Builder
	told, own := docstring(part(parts[len(parts)-1]))
	module.WriteString(told)
	for _, name := range parts[:len(parts)-1] {
		join(&module, part(name))
	}
	join(&module, own)
	return module.String()
}

// part is the text of a part.
func part(name string) string {
	text, err := files.ReadFile("vramscope_probe/" + name + ".py")
	if err != nil {
		panic("the probe lacks its part " + name + ": " + err.Error())
	}
	return string(text)
}

// join writes a part's text behind those before it.
func join(module *strings.Builder, text string) {
	module.WriteString("\n\n")
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "from .") {
			module.WriteString(line)
		}
	}
}

// docstring is the docstring that a part begins with, and the rest of it.
func docstring(text string) (told, rest string) {
	const quotes = `"""`
	inside, found := strings.CutPrefix(text, quotes)
	end := strings.Index(inside, quotes+"\n")
	if !found || end < 0 {
		panic("the probe's package begins with no docstring for its user")
	}
	end += 2*len(quotes) + 1
	return text[:end], text[end:]
}

// Files are the texts, by the files' names, that let the probe into a Python
// process that has their folder in its PYTHONPATH: the module, and the
// sitecustomize.py that starts it.
func Files() map[string]string {
	start, err := files.ReadFile("sitecustomize.py")
	if err != nil {
		panic("the probe lacks its sitecustomize.py: " + err.Error())
	}
	return map[string]string{ModuleName + ".py": Module(), "sitecustomize.py": string(start)}
}

// WriteTo lays the Files down in a folder that is there. The error names the
// file that could not be written.
func WriteTo(dir string) error {
	for name, text := range Files() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("the probe cannot be laid down: %w", err)
		}
	}
	return nil
}
