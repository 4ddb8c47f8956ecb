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
	"pressure",
	"peaks",
	"torch_failures",
	"torch_allocator",
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
	"sampler",
	"service",
	"session",
	"__init__",
}

// Module is the probe as one Python file.
//
// The parts name what they take from one another in one-line imports
// ("from .adapter import Adapter"), which have no place in a single file, where
// every part sees the names of those before it.
func Module() string {
	var module strings.Builder
	for i, part := range parts {
		text, err := files.ReadFile("vramscope_probe/" + part + ".py")
		if err != nil {
			panic("the probe lacks its part " + part + ": " + err.Error())
		}
		if i > 0 {
			module.WriteString("\n\n")
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "from .") {
				module.WriteString(line)
			}
		}
	}
	return module.String()
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
