package main

import (
	"context"
	"errors"
)

// The exit codes, as `vramscope --help` lists them.
const (
	exitFine         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitNothing      = 3 // nothing to watch
	exitNotPermitted = 4
	exitBelow        = 5 // below the asked headroom
	exitInterrupted  = 130
)

// usageError is a wrong flag, argument or setting.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// exitError is an error that names its own exit code. A nil cause prints
// nothing: what had to be said was said.
type exitError struct {
	code  int
	cause error
}

func (e exitError) Error() string {
	if e.cause == nil {
		return ""
	}
	return e.cause.Error()
}

func (e exitError) Unwrap() error { return e.cause }

// exitCode finds the code that an error ends the program with.
func exitCode(err error) int {
	var usage usageError
	var coded exitError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &coded):
		return coded.code
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default:
		return exitFailed
	}
}
