package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// The exit codes of a program that could not be started, as shells have them.
const (
	CodeNotExecutable = 126
	CodeNotFound      = 127
)

// StartError says that the program could not be started.
type StartError struct {
	Name string // as it was given
	Path string // where it was found, "" if it was not
	Err  error
}

// Error is one sentence that says what to do.
func (e *StartError) Error() string {
	switch {
	case errors.Is(e.Err, exec.ErrDot):
		return fmt.Sprintf("%s is in the working directory, which is not searched: name it ./%s", e.Name, e.Name)
	case e.Code() == CodeNotFound:
		return fmt.Sprintf("%s is not found: name a program that is in PATH, or its path", e.Name)
	case errors.Is(e.Err, fs.ErrNotExist):
		return e.Name + e.lacks()
	case errors.Is(e.Err, syscall.ENOEXEC):
		return fmt.Sprintf("%s is a program for another kind of machine: build or install it for this one", e.Name)
	case errors.Is(e.Err, fs.ErrPermission) && e.Path == "":
		return fmt.Sprintf("%s may not be executed: make it executable, or put its interpreter before it, such as python %s", e.Name, e.Name)
	case errors.Is(e.Err, fs.ErrPermission):
		return e.Name + e.forbidden()
	}
	return fmt.Sprintf("%s cannot be executed (%v): see whether it runs without vramscope", e.Name, e.Err)
}

// lacks says what is missing of a program that is there.
func (e *StartError) lacks() string {
	interpreter := interpreterOf(e.Path)
	switch {
	case interpreter == "":
		return " is there, but the loader that it asks for is not: install it, or a build for this system"
	case strings.HasSuffix(interpreter, "\r"):
		return fmt.Sprintf(" has a first line with a carriage return, so that it asks for the interpreter %q: write its lines as this system does, such as with dos2unix", interpreter)
	}
	return fmt.Sprintf(" is there, but the interpreter in its first line is not, %q: install that, or correct the line", interpreter)
}

// forbidden says what keeps a program that is executable from being executed.
func (e *StartError) forbidden() string {
	if interpreter := interpreterOf(e.Path); interpreter != "" {
		return fmt.Sprintf(" is executable, but the interpreter in its first line, %q, may not be executed, or nothing on its disk: see to the interpreter's rights", interpreter)
	}
	return " is executable, but may not be executed from the disk it lies on: copy it to another"
}

// Unwrap is the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// Code is what a shell would end with.
func (e *StartError) Code() int {
	if e.Path == "" && (errors.Is(e.Err, fs.ErrNotExist) || errors.Is(e.Err, exec.ErrNotFound)) {
		return CodeNotFound
	}
	return CodeNotExecutable
}

// firstLineLimit is how many bytes of a script's first line the kernel reads.
const firstLineLimit = 256

// scriptLine is what follows #! in the first line of a script, as far as the
// kernel reads it.
func scriptLine(path string) (line string, isScript bool) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	line, err = bufio.NewReader(io.LimitReader(file, firstLineLimit)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", false
	}
	if line, isScript = strings.CutPrefix(strings.TrimSuffix(line, "\n"), "#!"); !isScript {
		return "", false
	}
	return line, true
}

// interpreterOf is the interpreter in the first line of a script as the kernel
// takes it, "" if the file is none.
func interpreterOf(path string) string {
	line, _ := scriptLine(path)
	interpreter, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	interpreter, _, _ = strings.Cut(interpreter, "\t")
	return interpreter
}

// isELF says whether a file is a program for some machine.
func isELF(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, 4)
	_, err = io.ReadFull(file, start)
	return err == nil && string(start) == "\x7fELF"
}
