package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"vramscope/sources/probe/python"
)

// place is a directory that only the process's user can read, with the probe
// and the script that starts it.
type place struct{ directory string }

const scriptName = "enter.py"

func newPlace(p *Process, sockets string) (*place, error) {
	directory, err := os.MkdirTemp("/tmp", "vramscope-attach-")
	if err != nil {
		return nil, fmt.Errorf("the probe cannot be laid down in /tmp (%w): make room there", err)
	}
	at := &place{directory}
	if err := at.fill(p, sockets); err != nil {
		at.remove()
		return nil, fmt.Errorf("the probe cannot be laid down in %s (%w): make room there", directory, err)
	}
	return at, nil
}

func (at *place) fill(p *Process, sockets string) error {
	if err := os.WriteFile(filepath.Join(at.directory, python.ModuleName+".py"), []byte(python.Module()), 0o600); err != nil {
		return err
	}
	call := fmt.Sprintf("\n\n_vramscope_enter(%s, %s)\ndel _vramscope_enter\n", pythonString(at.directory), pythonString(sockets))
	if err := os.WriteFile(at.script(), []byte(enterScript+call), 0o600); err != nil {
		return err
	}
	if p.UID == os.Getuid() {
		return nil
	}
	if err := os.Chown(at.script(), p.UID, -1); err != nil {
		return err
	}
	return os.Chown(at.directory, p.UID, -1)
}

// pythonString is a text as Python writes it: JSON's strings are Python's too,
// as long as they hold no surrogates.
func pythonString(text string) string {
	quoted, err := json.Marshal(strings.ToValidUTF8(text, "�"))
	if err != nil {
		panic(err) // a string always has its JSON
	}
	return string(quoted)
}

func (at *place) script() string { return filepath.Join(at.directory, scriptName) }

func (at *place) remove() { _ = os.RemoveAll(at.directory) }

// leave lets the script clean up itself when it runs at last.
func (at *place) leave() {
	_ = at.create("unattended", "")
	if at.outcome() != nil { // it has just run, and did not see that
		at.remove()
	}
}

// withdraw has the process do nothing but clean up when it comes to the script.
// That stays: the interpreter would complain of one that is not there.
func (at *place) withdraw() {
	const clean = `__import__("shutil").rmtree(%s, ignore_errors=True)` + "\n"
	if at.create("clean", fmt.Sprintf(clean, pythonString(at.directory))) == nil {
		_ = os.Rename(filepath.Join(at.directory, "clean"), at.script())
	}
	at.leave()
}

// create writes a file that is not there yet. The directory may be another
// user's, who could have put a link in its place.
func (at *place) create(name, text string) error {
	file, err := os.OpenFile(filepath.Join(at.directory, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// outcome is what the script left behind.
type outcome struct {
	directory string // of the probe's socket
	problem   string // why there is none, "" if nothing is wrong
}

const maximumOutcome = 64 << 10

// outcome is nil as long as the script has not run.
func (at *place) outcome() *outcome {
	file, err := os.OpenFile(filepath.Join(at.directory, "outcome"), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maximumOutcome))
	if err != nil {
		return &outcome{problem: "its answer cannot be read: " + err.Error()}
	}
	directory, problem, _ := strings.Cut(string(text), "\n")
	return &outcome{directory, problem}
}

func (o *outcome) reached(p *Process) (*Reached, error) {
	if o.problem != "" {
		return nil, &RefusedError{p, o.problem}
	}
	if !p.HasProbe(o.directory) {
		return nil, &RefusedError{p, "its socket is not in " + o.directory}
	}
	return &Reached{Process: p, Directory: o.directory}, nil
}
