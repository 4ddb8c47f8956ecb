package main

import (
	"bufio"
	"io"
	"os/exec"
	"testing"
)

// feed starts a command whose input the test holds. Somebody must wait for it.
func feed(t *testing.T, command *exec.Cmd) io.WriteCloser {
	t.Helper()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return in
}

// converse is feed for a command whose output is read as well.
func converse(t *testing.T, command *exec.Cmd) (in io.WriteCloser, out *bufio.Reader) {
	t.Helper()
	pipe, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return feed(t, command), bufio.NewReader(pipe)
}
