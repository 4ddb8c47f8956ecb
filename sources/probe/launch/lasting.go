package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Where the probe lies lastingly, below the user's cache directory, so that
// Python compiles it once and not in every run.
const (
	cacheName  = "vramscope"
	placeStart = "probe-"
	unusedFor  = 30 * 24 * time.Hour // before the place of another version goes
)

var placeName = regexp.MustCompile(`^` + placeStart + `[0-9a-f]{16}$`)

// layLasting lays the files into the place that has their hash in its name, and
// says where that is. What lies there as it should stays as it is: Python knows
// its bytecode by the file's time.
func layLasting(files map[string]string) (directory string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if err := makeCache(cache); err != nil {
		return "", err
	}
	home := filepath.Join(cache, cacheName)
	if err := makeOwn(home, 0o022); err != nil {
		return "", err
	}
	directory = filepath.Join(home, placeStart+hashOf(files))
	if err := makeOwn(directory, 0o077); err != nil {
		return "", err
	}
	now := time.Now()
	if err := os.Chtimes(directory, now, now); err != nil { // it is in use
		return "", err
	}
	for name, text := range files {
		if path := filepath.Join(directory, name); !holds(path, text) {
			if err := replace(path, text); err != nil {
				return "", err
			}
			_ = os.RemoveAll(filepath.Join(directory, "__pycache__")) // of what lay there before
		}
	}
	removeUnused(home, filepath.Base(directory), now.Add(-unusedFor))
	return directory, nil
}

// makeCache makes the cache directory where there is none. What is another user's
// is left alone, such as the home that root keeps under sudo: a directory of
// root's would lock its owner out.
func makeCache(cache string) error {
	info, err := os.Stat(cache)
	if err == nil && !isOwn(info) {
		return fmt.Errorf("%s is another user's", cache)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err = os.Stat(filepath.Dir(cache))
	if err != nil {
		return err
	}
	if !isOwn(info) {
		return fmt.Errorf("%s is another user's", filepath.Dir(cache))
	}
	return os.Mkdir(cache, 0o700)
}

// hashOf is 16 hexadecimal digits that another text or name would change.
func hashOf(files map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%d %s %d %s", len(name), name, len(files[name]), files[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// makeOwn makes a directory that is not there. One that is there must be this
// user's, no link, and have none of the permissions that are denied.
func makeOwn(path string, denied fs.FileMode) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir() || !isOwn(info):
		return fmt.Errorf("%s is not a directory of this user", path)
	case info.Mode().Perm()&denied != 0:
		return fmt.Errorf("%s is open to others", path)
	}
	return nil
}

// isOwn says whether a file is this user's.
func isOwn(info fs.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Getuid()
}

// holds says whether a regular file of this user's has just that text.
func holds(path, text string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || !isOwn(info) || info.Mode().Perm()&0o022 != 0 || info.Size() != int64(len(text)) {
		return false
	}
	there, err := io.ReadAll(io.LimitReader(file, int64(len(text))))
	return err == nil && string(there) == text
}

// replace puts a file in the place of whatever has its name, at once: another
// run may be reading it.
func replace(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".laying-")
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// removeUnused removes the places of other versions that no run has used since
// then, and that no program has in its environment.
func removeUnused(home, own string, since time.Time) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || entry.Name() == own || !placeName.MatchString(entry.Name()) || !info.IsDir() || !isOwn(info) || !info.ModTime().Before(since) {
			continue
		}
		if path := filepath.Join(home, entry.Name()); !inUse(path) {
			_ = os.RemoveAll(path)
		}
	}
}

// inUse says whether a process may still import the probe from a directory. Not
// to know is yes.
func inUse(directory string) bool {
	pids, err := Processes()
	if err != nil {
		return true
	}
	return slices.ContainsFunc(pids, func(pid int) bool {
		return strings.HasPrefix(doorOf(pid), directory+markSeparator)
	})
}
