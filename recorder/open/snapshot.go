package open

import (
	"os"

	"vramscope/recorder"
	"vramscope/recorder/torchsnap"
)

// Watch is told how a dump is read. Its functions are called from the goroutine
// that reads; nil ones are not.
type Watch struct {
	// Progress is told of bytes of the file, in all and read, and of events. A
	// false answer ends the reading with torchsnap.ErrCancelled.
	Progress func(done, total, events int64) bool
	// Partial is given the dump as far as it was read, now and then.
	Partial func(*recorder.Dump)
}

// readSnapshot reads a PyTorch memory snapshot.
func readSnapshot(path string, watch Watch) (*recorder.Dump, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &recorder.FileError{Path: path, Do: "open", Err: err}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, &recorder.FileError{Path: path, Do: "open", Err: err}
	}
	options := torchsnap.Options{Size: info.Size(), Partial: watch.Partial}
	if watch.Progress != nil {
		options.Progress = func(bytes, events int64) bool { return watch.Progress(bytes, info.Size(), events) }
	}
	return torchsnap.Read(file, options)
}
