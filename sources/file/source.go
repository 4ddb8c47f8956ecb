// Package file has the source that reads a recording and follows it while it
// is written: as it grows, is truncated, is rotated by a rename, or goes and
// comes back.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"vramscope/recorder"
	"vramscope/recorder/open"
)

// ErrNoCommands is what a Source answers to every command. Send commands to a
// program that runs.
var ErrNoCommands = errors.New("a recording takes no commands: select a program that runs")

// DumpError says that the file is a dump of another tool: it is opened whole,
// with open.Open, and not followed.
type DumpError struct {
	Path   string
	Format *open.Format
}

// Error is one sentence.
func (e *DumpError) Error() string {
	return fmt.Sprintf("%q is %s and no recording: open it as a dump", e.Path, e.Format.Name)
}

// Source reads a recording. It satisfies model.Source and model.Loading.
type Source struct {
	path string

	// Follow says whether to wait for more at the end of a recording that has
	// not ended. Without it Run returns there.
	Follow bool
	// Look says when to look at a file that is followed, besides the moments
	// that the file system tells; nil is once a second. It is how growth is
	// seen where the file system tells nothing, such as on NFS and FUSE.
	Look <-chan time.Time

	blind     bool // do not listen to the file system, for tests
	done      atomic.Int64
	total     atomic.Int64
	following atomic.Bool
	mu        sync.Mutex
	problems  recorder.Problems
}

// NewSource makes a Source of a file that it follows, if the file is there and a
// recording, or may become one since nothing is in it yet. The errors are those
// of open.Open and a *DumpError. The file is not kept open.
func NewSource(path string) (*Source, error) {
	s := &Source{path: path, Follow: true}
	file, err := s.tryOpen()
	if err != nil {
		if mayCome(err, false) {
			return s, nil
		}
		return nil, err
	}
	return s, file.Close()
}

// ID is "file:" and the absolute path.
func (s *Source) ID() string {
	if absolute, err := filepath.Abs(s.path); err == nil {
		return "file:" + absolute
	}
	return "file:" + s.path
}

// Send refuses: the error is ErrNoCommands.
func (*Source) Send(context.Context, *recorder.Command) error { return ErrNoCommands }

// Progress is how many of how many bytes of the file were read, and whether its
// end was reached and growth is waited for. It may be called from any
// goroutine.
func (s *Source) Progress() (done, total int64, following bool) {
	return s.done.Load(), s.total.Load(), s.following.Load()
}

// Problems is what was wrong with the file when its end was last reached. It
// may be called from any goroutine.
func (s *Source) Problems() recorder.Problems {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problems
}

// Run hands every record to emit.
//
// It returns nil when every source in the file has said goodbye: such a
// recording is finished and is not followed. At the end of one that is not, Run
// waits for more if the Source follows, until ctx ends (nil), and otherwise
// returns a *CutError, which says what is missing; everything before was
// emitted. While it waits it says in notes what an investigator should know:
// that the file ends within a record, was truncated, replaced or removed.
//
// Other errors are those of open.Open, a *DumpError, and the reader's.
func (s *Source) Run(ctx context.Context, emit func(recorder.Record)) error {
	defer s.following.Store(false)
	t := &telling{emit: emit, open: map[string]bool{}}
	watch := newWatch(s)
	defer watch.stop()
	for {
		next, err := s.readFile(ctx, t, watch)
		if err != nil || !next {
			return err
		}
	}
}

// readFile reads the file that the path names now, until it has ended. next
// says that another one has taken its place, or that it begins anew.
func (s *Source) readFile(ctx context.Context, t *telling, watch *watch) (next bool, err error) {
	file, err := s.openFile(ctx, watch)
	if file == nil {
		return false, err
	}
	defer file.Close()
	input := &input{Source: s, ctx: ctx, file: file, watch: watch, telling: t}
	input.measure()
	reader := recorder.NewReader(input)
	defer reader.Close()
	input.reader = reader
	s.done.Store(0)
	s.following.Store(false)
	for ctx.Err() == nil {
		record, err := reader.Next()
		switch {
		case err == nil:
			t.tell(record)
			continue
		case !errors.Is(err, io.EOF):
			return false, s.failure(err)
		}
		s.keepProblems(reader.Problems())
		switch {
		case input.end == endReplaced || input.end == endTruncated:
			t.forget()
			return true, nil
		case t.finished() || ctx.Err() != nil:
			return false, nil
		}
		return false, s.cut(t, reader)
	}
	return false, nil
}

// openFile opens the file, once there is something in it. It is nil when ctx
// ended first.
func (s *Source) openFile(ctx context.Context, watch *watch) (*os.File, error) {
	for {
		file, err := s.tryOpen()
		if err == nil {
			watch.opened = true
			return file, nil
		}
		if !s.Follow || !mayCome(err, watch.opened) {
			return nil, err
		}
		s.following.Store(true)
		if !watch.wait(ctx) {
			return nil, nil
		}
	}
}

// mayCome says whether a file that cannot be opened may just not be there yet:
// it is empty, or gone after it was there before.
func mayCome(err error, wasThere bool) bool {
	var declined *open.DeclinedError
	if errors.As(err, &declined) {
		return declined.Format == "an empty file"
	}
	return errors.Is(err, os.ErrNotExist) && wasThere
}

func (s *Source) tryOpen() (*os.File, error) {
	format, err := open.Recognise(s.path)
	switch {
	case err != nil:
		return nil, err
	case format.ReadDump != nil, format.ReadCosts != nil:
		return nil, &DumpError{Path: s.path, Format: format}
	case !format.Opens():
		return nil, &open.DeclinedError{Path: s.path, Format: format.Name, Reason: format.Reason, Advice: format.Advice}
	}
	// It may be another one by now: a pipe must not make us wait for its writer.
	file, err := os.OpenFile(s.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, &recorder.FileError{Path: s.path, Do: "open", Err: err}
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, &recorder.FileError{Path: s.path, Do: "open", Err: recorder.ErrNotRegular}
	}
	return file, nil
}

// failure puts the path on an error of the reader.
func (s *Source) failure(err error) error {
	var protocol *recorder.ProtocolError
	if errors.As(err, &protocol) {
		return err
	}
	return &recorder.FileError{Path: s.path, Do: "read", Err: err}
}

func (s *Source) keepProblems(problems recorder.Problems) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = problems
}
