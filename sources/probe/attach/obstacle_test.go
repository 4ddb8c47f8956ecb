package attach

import (
	"errors"
	"strings"
	"testing"
)

// TestPtraceScopes goes through what the kernel's setting means, which a test
// cannot set.
func TestPtraceScopes(t *testing.T) {
	own := &Process{PID: 812, UID: 1000, Name: "render.py", Version: Version{3, 14}, readable: true}
	for _, c := range []struct {
		name    string
		process Process
		by      caller
		scope   int // of the error, -1 for none
		says    string
	}{
		{"no Yama, own", *own, caller{uid: 1000}, -1, ""},
		{"ancestors only", *own, caller{uid: 1000, scope: 1}, 1, "what started it"},
		{"ancestors only, but capable", *own, caller{uid: 0, scope: 1, ptrace: true}, -1, ""},
		{"administrators only", *own, caller{uid: 1000, scope: 2}, 2, "root"},
		{"administrators only, but capable", *own, caller{uid: 0, scope: 2, ptrace: true}, -1, ""},
		{"nobody", *own, caller{uid: 0, scope: 3, ptrace: true}, 3, "nobody"},
		{"root without the capability", *own, caller{uid: 0}, 0, "SYS_PTRACE"},
		{"a program that hides itself", Process{PID: 812, UID: 1000, Version: Version{3, 14}}, caller{uid: 1000}, 0, "SYS_PTRACE"},
	} {
		err := c.process.obstacle(c.by)
		var refused *PtraceError
		switch {
		case c.scope < 0 && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.scope >= 0 && (!errors.As(err, &refused) || refused.Scope != c.scope || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestEveryObstacleIsOneSentence that names the process and what to do.
func TestEveryObstacleIsOneSentence(t *testing.T) {
	p := &Process{PID: 812, Name: "render.py", Version: Version{3, 11}}
	for _, err := range []error{
		&GoneError{812}, &NotPythonError{812, "bash"}, &VersionError{p}, &UserError{p, "ann"}, &ContainerError{p, "mnt"}, &ContainerError{p, "pid"},
		&PtraceError{p, 0}, &PtraceError{p, 1}, &PtraceError{p, 2}, &PtraceError{p, 3}, &DisabledError{p, ""}, &DisabledError{p, "-X"},
		&InterpreterError{p, "it is gone"}, &BusyError{p, 10}, &RefusedError{p, "OSError: no"},
	} {
		text := err.Error()
		if !strings.Contains(text, "812") || !strings.ContainsAny(text, ":,") || strings.Contains(text, "\n") || strings.HasSuffix(text, ".") {
			t.Errorf("%T says %q", err, text)
		}
	}
}

// TestNames are how processes are told apart in a list.
func TestNames(t *testing.T) {
	for command, want := range map[string]string{
		"python3 render.py --frames 3": "render.py",
		"python3 -u /a/b/render.py":    "render.py",
		"python3 -W ignore render.py":  "render.py",
		"python3 -m torch.render x":    "torch.render",
		"python3 -c pass x":            "python3 -c",
		"python3 -Ic pass":             "python3 -c",
		"python3":                      "python3",
		"":                             "python3",
	} {
		if got := nameOf(strings.Fields(command), "python3"); got != want {
			t.Errorf("%q is called %q, want %q", command, got, want)
		}
	}
}

// TestVersions reads versions from names and from what is mapped.
func TestVersions(t *testing.T) {
	for name, want := range map[string]string{
		"python3.14": "3.14", "python3.14t": "3.14", "pypy3.11": "3.11", "python3.9d": "3.9",
		"python3": "of an unknown version", "python": "of an unknown version",
	} {
		match := interpreter.FindStringSubmatch(name)
		if match == nil || versionOf(match[2], match[3]).String() != want {
			t.Errorf("%s: %q, want %s", name, match, want)
		}
	}
	for _, name := range []string{"pythonic", "bpython", "python3.14-config", "ipython3"} {
		if interpreter.MatchString(name) {
			t.Errorf("%s is taken for an interpreter", name)
		}
	}
	for maps, want := range map[string]string{
		"7f00-7f01 r-xp 0 08:01 7 /usr/lib/x86_64-linux-gnu/libpython3.14.so.1.0\n":                    "3.14",
		"7f00-7f01 r-xp 0 08:01 7 /opt/conda/lib/python3.12/lib-dynload/_json.cpython-312-x86_64.so\n": "3.12",
		"7f00-7f01 r-xp 0 08:01 7 /opt/lib/libpython3.13t.so.1.0\n":                                    "3.13",
	} {
		if version, ok := mappedVersion([]byte(maps)); !ok || version.String() != want {
			t.Errorf("%q: %v, want %s", maps, version, want)
		}
	}
	if _, ok := mappedVersion([]byte("7f00-7f01 r-xp 0 08:01 7 /usr/lib/libc.so.6\n")); ok {
		t.Error("libc is taken for Python")
	}
	if !(Version{3, 9}).before(Version{3, 14}) || (Version{3, 14}).before(Version{3, 14}) || (Version{4, 0}).before(Version{3, 14}) {
		t.Error("versions are not in order")
	}
}
