package file

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch has a moment to look at a file: when its directory changes, and once a
// second besides, since some file systems tell nothing.
type watch struct {
	changes chan struct{}
	look    <-chan time.Time
	stop    func()
	seconds int64 // that have passed in waiting
	opened  bool  // the file was there once
}

func newWatch(s *Source) *watch {
	w := &watch{changes: make(chan struct{}, 1), look: s.Look, stop: func() {}}
	if !s.Follow {
		return w
	}
	stopTicker, stopTelling := func() {}, func() {}
	if s.Look == nil {
		ticker := time.NewTicker(time.Second)
		w.look, stopTicker = ticker.C, ticker.Stop
	}
	if !s.blind {
		stopTelling = w.tell(s.path)
	}
	w.stop = func() {
		stopTicker()
		stopTelling()
	}
	return w
}

// tell passes on what the file system says of the path. The directory is
// watched and not the file: a file of the name that comes later counts, too.
func (w *watch) tell(path string) (stop func()) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return func() {}
	}
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		_ = watcher.Close()
		return func() {}
	}
	base := filepath.Base(path)
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case event, open := <-watcher.Events:
				if !open {
					return
				}
				if filepath.Base(event.Name) == base {
					select {
					case w.changes <- struct{}{}:
					default:
					}
				}
			case _, open := <-watcher.Errors:
				if !open {
					return
				}
			}
		}
	})
	return func() {
		_ = watcher.Close()
		running.Wait()
	}
}

// wait waits for the next moment to look; false is the end of ctx.
func (w *watch) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-w.changes:
	case <-w.look:
		w.seconds++
	}
	return true
}
