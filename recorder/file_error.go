package recorder

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// FileError says that a file could not be made, written or read. What was
// written before it can be read.
type FileError struct {
	Path string
	Do   string // "create", "write", "open", "read"
	Err  error  // the system's, or what is wrong with the file
}

// Error is one sentence that ends with what to do.
func (e *FileError) Error() string {
	fact, advice := explain(e.Err)
	return fmt.Sprintf("cannot %s %q: %s; %s", e.Do, e.Path, fact, advice)
}

// Unwrap returns the system's error.
func (e *FileError) Unwrap() error { return e.Err }

// Full says that the disk or the user's share of it is full.
func (e *FileError) Full() bool {
	return errors.Is(e.Err, syscall.ENOSPC) || errors.Is(e.Err, syscall.EDQUOT)
}

// explanations are the errors that people meet, each with a fact and what to
// do.
var explanations = []struct {
	err          error
	fact, advice string
}{
	{ErrNotRegular, "it is no regular file", "name a file"},
	{ErrDamaged, "its compressed content is damaged from here on", "go by what stands before"},
	{ErrWindow, "it was compressed with a larger window than is read here", "decompress it with zstd -d --long=31 first"},
	{ErrFileLimit, "it has reached the size that was set for it", "record a shorter time or set a larger limit"},
	{syscall.EISDIR, "it is a folder", "name a file in it"},
	{fs.ErrExist, "it exists", "choose another name or remove it"},
	{syscall.ENOTDIR, "a part of its path is no folder", "check the path"},
	{fs.ErrNotExist, "it or its folder does not exist", "check the path"},
	{syscall.ELOOP, "it is a symbolic link", "name the file itself"},
	{fs.ErrPermission, "this user may not", "choose another place or ask its owner"},
	{syscall.ENOSPC, "the disk is full", "free space or choose another place"},
	{syscall.EDQUOT, "this user's share of the disk is full", "free space or choose another place"},
	{syscall.EFBIG, "it is larger than a file may be here", "choose another place or record a shorter time"},
	{syscall.EROFS, "the disk cannot be written", "choose another place"},
	{syscall.ENAMETOOLONG, "its name is too long", "choose a shorter one"},
	{syscall.EIO, "the disk does not answer", "look after the disk"},
}

// explain puts an error into words.
func explain(err error) (fact, advice string) {
	for _, e := range explanations {
		if errors.Is(err, e.err) {
			return e.fact, e.advice
		}
	}
	return err.Error(), "check the file"
}

// Errors that a FileError can hold besides the system's.
var (
	// ErrNotRegular is that of a folder, a device or a pipe in place of a file.
	ErrNotRegular = errors.New("not a regular file")
	// ErrFileLimit is that of a file that has reached FileOptions.Limit.
	ErrFileLimit = errors.New("the size limit is reached")
	// ErrDamaged is that of compressed content that cannot be read on.
	ErrDamaged = errors.New("the compressed content is damaged")
	// ErrWindow is that of compressed content that would take too much memory.
	ErrWindow = errors.New("the window of the compressed content is too large")
)
