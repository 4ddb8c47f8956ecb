package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
)

// InUseError says that a socket has a living owner already.
type InUseError struct{ Path string }

// Error is one sentence that says what to do.
func (e *InUseError) Error() string {
	return fmt.Sprintf("something listens on %s already: only one part of a program may offer it to be watched", e.Path)
}

func ownPath() (string, error) {
	dir, err := Directory()
	if err != nil {
		return "", err
	}
	name, err := OwnName()
	if err != nil {
		return "", fmt.Errorf("this process's start time, which its socket is named after, cannot be read: %w", err)
	}
	return filepath.Join(dir, name.String()), nil
}

// listen binds the socket so that nobody else may open it at any moment. A
// stale file is removed only after a connection to it was refused.
func listen(path string) (*net.UnixListener, error) {
	if len(path) > MaxPath {
		return nil, &PathLengthError{path}
	}
	listener, err := bind(path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if !refuses(path) {
			return nil, &InUseError{path}
		}
		if err := removeSocket(path); err != nil {
			return nil, err
		}
		listener, err = bind(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the socket %s cannot be made: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("the socket %s cannot be closed to others: %w", path, err)
	}
	return listener, nil
}

func bind(path string) (*net.UnixListener, error) {
	// The mask is the whole process's. It is set for the length of one system
	// call, and the directory is closed to others besides.
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	return net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
}

// refuses says whether nobody listens behind a socket's file.
func refuses(path string) bool {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// removeSocket removes the file if it is a socket, and nothing else.
func removeSocket(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSocket == 0:
		return fmt.Errorf("%s is in the way and is not a socket: move it away", path)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
