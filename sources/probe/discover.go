package probe

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"vramscope/recorder"
)

// Found is a program that offers itself to be watched.
type Found struct {
	Path  string // of its socket
	Name  Name
	Hello *recorder.Hello
}

// Watcher looks for sockets until its context ends.
type Watcher struct {
	// Directory is where to look; see the function of that name.
	Directory string
	// Found is told of each program once it has said hello, and Gone of each
	// that was found when its socket has no owner any more. Both are called
	// one at a time, and Gone only after Found.
	Found func(Found)
	Gone  func(path string, name Name)
	// Scan says when to look again; nil is once a second. Besides, changes of
	// the directory are noticed as they happen, where its file system tells.
	Scan <-chan time.Time
	// Own is the process that is not to be found; the zero value is this one.
	Own Name
}

// Bounds of a watcher's work.
const (
	greetTimeout   = time.Second // for a program's hello
	greetAtOnce    = 8           // programs that are greeted at the same time
	greetAgain     = 5           // scans before a socket that gave no hello is tried again
	refusedTries   = 7           // of a socket that refuses, besides the scans: they double
	refusedPause   = 5 * time.Millisecond
	maximumSockets = 1024 // of a directory; more are left alone
)

// socket is what a watcher knows of a file.
type socket struct {
	name  Name
	found bool
	wait  int // scans until it is greeted again
	tries int // that it refused, one soon after the other
}

// hunt is the state of a Run.
type hunt struct {
	*Watcher
	known    map[string]*socket
	greeting sync.WaitGroup
	slots    chan struct{}
	greeted  chan greeted
	soon     chan struct{} // a socket that refused is to be tried again
}

type greeted struct {
	path  string
	hello *recorder.Hello
	err   error
}

// Run watches the directory until ctx ends. The error is a *DirectoryError for
// a directory that others can reach; it is nil when ctx ended.
func (w *Watcher) Run(ctx context.Context) error {
	if err := checkDirectory(w.Directory); err != nil {
		return err
	}
	if w.Own == (Name{}) {
		w.Own, _ = OwnName()
	}
	scan := w.Scan
	if scan == nil {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		scan = ticker.C
	}
	changes, stop := watchDirectory(w.Directory)
	defer stop()

	h := &hunt{Watcher: w, known: map[string]*socket{}, slots: make(chan struct{}, greetAtOnce),
		greeted: make(chan greeted), soon: make(chan struct{}, 1)}
	defer h.greeting.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before the wait: it ends the greetings
	h.scan(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-scan:
			h.scan(ctx)
		case <-changes:
			h.look(ctx)
		case <-h.soon:
			h.look(ctx)
		case g := <-h.greeted:
			h.hear(g)
		}
	}
}

// watchDirectory has a value whenever something in the directory changed. It
// never has one where the file system cannot tell.
func watchDirectory(dir string) (changes <-chan struct{}, stop func()) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, func() {}
	}
	if err := watcher.Add(dir); err != nil {
		_ = watcher.Close()
		return nil, func() {}
	}
	told := make(chan struct{}, 1)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case _, open := <-watcher.Events:
				if !open {
					return
				}
				select {
				case told <- struct{}{}:
				default:
				}
			case _, open := <-watcher.Errors:
				if !open {
					return
				}
			}
		}
	})
	return told, func() {
		_ = watcher.Close()
		running.Wait()
	}
}

// scan looks at the directory and at the owners of what is known.
func (h *hunt) scan(ctx context.Context) {
	for path, s := range h.known {
		if s.wait > 0 {
			s.wait--
		}
		if s.name.Gone() {
			h.removeStale(path)
		}
	}
	h.look(ctx)
}

// removeStale removes a socket whose process is gone, once a connection to it
// was refused: another PID namespace may just not show the process.
func (h *hunt) removeStale(path string) {
	if refuses(path) {
		_ = removeSocket(path)
	}
}

// look compares the directory with what is known.
func (h *hunt) look(ctx context.Context) {
	names, err := socketNames(h.Directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return // it may be readable again; nothing is known of what was found
	}
	present := make(map[string]bool, len(names))
	for _, name := range names {
		path := filepath.Join(h.Directory, name.String())
		present[path] = true
		h.consider(ctx, path, name)
	}
	for path, s := range h.known {
		if !present[path] {
			delete(h.known, path)
			if s.found && h.Watcher.Gone != nil {
				h.Watcher.Gone(path, s.name)
			}
		}
	}
}

func socketNames(dir string) ([]Name, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []Name
	for _, entry := range entries {
		name, ok := ParseName(entry.Name())
		if ok && entry.Type()&fs.ModeSocket != 0 && len(names) < maximumSockets {
			names = append(names, name)
		}
	}
	return names, nil
}

// consider greets a socket that is new, or that gave no hello before.
func (h *hunt) consider(ctx context.Context, path string, name Name) {
	s := h.known[path]
	switch {
	case name == h.Own:
		return
	case s == nil:
		s = &socket{name: name}
		h.known[path] = s
	case s.found || s.wait > 0:
		return
	}
	s.wait = greetAgain // and until the answer
	h.greeting.Go(func() {
		select {
		case h.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		hello, err := Greet(ctx, path)
		<-h.slots
		select {
		case h.greeted <- greeted{path, hello, err}:
		case <-ctx.Done():
		}
	})
}

// hear takes the outcome of a greeting.
func (h *hunt) hear(g greeted) {
	s := h.known[g.path]
	if s == nil || s.found {
		return
	}
	if g.err != nil {
		var dial *DialError
		if errors.As(g.err, &dial) {
			if dial.Gone {
				h.removeStale(g.path)
			}
			s.wait = 0
			h.trySoon(s)
		}
		return
	}
	s.found = true
	if h.Watcher.Found != nil {
		h.Watcher.Found(Found{Path: g.path, Name: s.name, Hello: g.hello})
	}
}

// trySoon has a socket that refused looked at again. Between bind and listen each
// does so, and a program that ends at once is gone by the next scan.
func (h *hunt) trySoon(s *socket) {
	if s.tries >= refusedTries {
		return
	}
	time.AfterFunc(refusedPause<<s.tries, func() {
		select {
		case h.soon <- struct{}{}:
		default: // it is to be looked already
		}
	})
	s.tries++
}

// Greet asks the program behind a socket who it is, within a second, and hangs
// up. The errors are those of Source.Run.
func Greet(ctx context.Context, path string) (*recorder.Hello, error) {
	ctx, cancel := context.WithTimeout(ctx, greetTimeout)
	defer cancel()
	var hello *recorder.Hello
	err := NewSource(path).Run(ctx, func(record recorder.Record) {
		if h, ok := record.(*recorder.Hello); ok && hello == nil {
			hello = h
			cancel()
		}
	})
	switch {
	case hello != nil:
		return hello, nil
	case err != nil:
		return nil, err
	}
	return nil, &GreetingError{ID: NewSource(path).ID(), Why: "did not say hello within a second", Silent: true}
}
