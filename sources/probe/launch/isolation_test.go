package launch_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/sources/probe/launch"
)

// TestIsolated goes through commands that keep the probe out, and through those
// that only look so.
func TestIsolated(t *testing.T) {
	for command, want := range map[string]string{
		"python3 -I render.py":                      "I",
		"python -E render.py":                       "E",
		"python3.12 -S render.py":                   "S",
		"/usr/bin/python3 -Im render":               "I",
		"python3 -uBE render.py":                    "E",
		"python3 -W ignore -I render.py":            "I",
		"python3 -Wignore -X dev -S render.py":      "S",
		"python3 -bIW ignore render.py":             "I",
		"python3 --check-hash-based-pycs always -I": "I",
		"env A=1 python3 -I render.py":              "I",
		"nice -n 5 python3 -E render.py":            "E",
		"uv run python -I render.py":                "I",
		"python3 render.py -I":                      "",
		"python3 -m render -I":                      "",
		"python3 -uc pass -I":                       "",
		"python3 -cI":                               "",
		"python3 -mSomething":                       "",
		"python3 -WI render.py":                     "",
		"python3 -X I render.py":                    "",
		"python3 - -I":                              "",
		"python3 -- -I":                             "",
		"python3 -s -u render.py":                   "",
		"python3":                                   "",
		"torchrun -I render.py":                     "",
		"pythonic -I":                               "",
	} {
		found, option := launch.Isolated(strings.Fields(command)), ""
		if found != nil {
			option = found.Option
			if text := found.String(); !strings.Contains(text, "-"+want) || !strings.Contains(text, "vramscope_probe") {
				t.Errorf("%s: says %q", command, text)
			}
		}
		if option != want {
			t.Errorf("%s: option %q, want %q", command, option, want)
		}
	}
}

// TestIsolatedScript reads the first line of a script that is the command.
func TestIsolatedScript(t *testing.T) {
	for line, want := range map[string]string{
		"#!/usr/bin/python3 -I\n":              "I",
		"#! /usr/bin/env -S python3 -uE\n":     "E",
		"#!/usr/bin/env python3\n":             "",
		"#!/bin/sh -I\n":                       "",
		"print('-I')\n":                        "",
		"":                                     "",
		"#!/usr/bin/python3 -S":                "S",
		"#!/usr/bin/python3 " + long + " -S\n": "",
	} {
		script := filepath.Join(t.TempDir(), "render")
		if err := os.WriteFile(script, []byte(line+"x"), 0o700); err != nil {
			t.Fatal(err)
		}
		found, option := launch.Isolated([]string{script, "-I"}), ""
		if found != nil {
			option = strings.TrimSuffix(found.Option, "x")
			if !strings.Contains(found.String(), script) {
				t.Errorf("%q: says %q without the script", line, found)
			}
		}
		if option != want {
			t.Errorf("%q: option %q, want %q", line, option, want)
		}
	}
	if found := launch.Isolated([]string{"/no/such/program", "-I"}); found != nil {
		t.Errorf("a program that is not there: %v", found)
	}
}

// TestIsolatedPython: of a Python that runs, every word behind its own is an option
// or the program's, whatever it is called.
func TestIsolatedPython(t *testing.T) {
	for command, want := range map[string]string{
		"/opt/env/bin/python -uI train.py": "I",
		"renderer -E -m train":             "E",
		"python3 -X dev -S train.py":       "S",
		"python3 train.py -I":              "",
		"python3 python3 -I":               "",
		"":                                 "",
	} {
		found, option := launch.IsolatedPython(strings.Fields(command)), ""
		if found != nil {
			option = found.Option
		}
		if option != want {
			t.Errorf("%s: option %q, want %q", command, option, want)
		}
	}
}

// long is more than the kernel reads of a first line.
var long = strings.Repeat("-u ", 100)
