package main

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/recorder/open"
)

// dumpShelf holds the memory dumps that are open. Files are read side by side,
// as many as there are cores and as fit; their indexes stay as long as all of
// them together fit. Of a dump whose indexes were let go the row in the list
// remains, and it is read again when it is looked at.
type dumpShelf struct {
	hub       *hub
	limit     int64         // bytes of indexes; the one that is looked at may take more
	partAfter time.Duration // from when on the first part of a dump is shown

	mutex  sync.Mutex
	dumps  []*shelvedDump // in the order of opening
	shown  string         // ID of the one that is looked at
	looked uint64         // grows with each look
}

func newDumpShelf(h *hub, limit int64) *dumpShelf {
	return &dumpShelf{hub: h, limit: limit, partAfter: partAfter}
}

// shelvedDump is a dump that is open.
type shelvedDump struct {
	id, path string
	format   *open.Format
	state    shelfState
	bytes    int64  // that its indexes take, or that reading it is expected to take
	looked   uint64 // when it was looked at last, 0 never
	cancel   context.CancelFunc
}

// shelfState is where a dump stands.
type shelfState uint8

const (
	shelfWaiting shelfState = iota // to be read
	shelfReading
	shelfKept
	shelfLetGo
	shelfFailed
)

// open adds a dump to the shelf, to be read.
func (s *dumpShelf) open(path string, format *open.Format) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	id := "file:" + path
	if d := s.find(id); d != nil {
		if d.state == shelfFailed || d.state == shelfLetGo {
			d.state = shelfWaiting
			s.readNext()
		}
		return
	}
	s.hub.tell(func(store *model.Store) {
		store.Add(model.SourceInfo{ID: id, Kind: model.KindDump, Name: path, File: path})
	})
	s.dumps = append(s.dumps, &shelvedDump{id: id, path: path, format: format, bytes: expectedBytes(path)})
	if s.shown == "" {
		s.shown = id
	}
	s.readNext()
}

// show says which source is looked at. A dump that was let go is read again.
func (s *dumpShelf) show(id string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.shown = id
	d := s.find(id)
	if d == nil {
		return
	}
	s.looked++
	d.looked = s.looked
	if d.state == shelfLetGo {
		d.state = shelfWaiting
		s.hub.tell(func(store *model.Store) { store.SetStatus(id, model.StatusLoading, "") })
	}
	s.readNext()
}

// close forgets a dump, read or not; it says whether there was one.
func (s *dumpShelf) close(id string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for i, d := range s.dumps {
		if d.id != id {
			continue
		}
		if d.cancel != nil {
			d.cancel()
		}
		s.dumps = append(s.dumps[:i:i], s.dumps[i+1:]...)
		s.hub.tell(func(store *model.Store) { store.Remove(id) })
		s.readNext()
		return true
	}
	return false
}

// any says whether a dump is open.
func (s *dumpShelf) any() bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.dumps) > 0
}

func (s *dumpShelf) find(id string) *shelvedDump {
	for _, d := range s.dumps {
		if d.id == id {
			return d
		}
	}
	return nil
}

// readNext begins to read what waits, the one that is looked at first, as far
// as there are cores and memory for it. One is read whatever it takes.
func (s *dumpShelf) readNext() {
	for {
		next := s.waiting()
		if next == nil {
			return
		}
		readers, bytes := s.reading()
		if readers >= runtime.GOMAXPROCS(0) {
			return
		}
		s.makeRoom(bytes + next.bytes)
		if readers > 0 && s.kept()+bytes+next.bytes > s.limit {
			return
		}
		s.read(next)
	}
}

func (s *dumpShelf) waiting() (first *shelvedDump) {
	for _, d := range s.dumps {
		if d.state == shelfWaiting && (first == nil || d.id == s.shown) {
			first = d
		}
	}
	return first
}

func (s *dumpShelf) reading() (readers int, bytes int64) {
	for _, d := range s.dumps {
		if d.state == shelfReading {
			readers++
			bytes += d.bytes
		}
	}
	return readers, bytes
}

func (s *dumpShelf) kept() (bytes int64) {
	for _, d := range s.dumps {
		if d.state == shelfKept {
			bytes += d.bytes
		}
	}
	return bytes
}

// makeRoom lets indexes go until others of so many bytes fit beside those that
// stay: first those that nobody has looked at for longest, never the one that
// is looked at.
func (s *dumpShelf) makeRoom(bytes int64) {
	for s.kept()+bytes > s.limit {
		var oldest *shelvedDump
		for _, d := range s.dumps {
			if d.state == shelfKept && d.id != s.shown && (oldest == nil || d.looked <= oldest.looked) {
				oldest = d
			}
		}
		if oldest == nil {
			return
		}
		oldest.state = shelfLetGo
		id := oldest.id
		s.hub.tell(func(store *model.Store) { store.SetDump(id, nil) })
	}
}

// read reads a dump in a goroutine of its own.
func (s *dumpShelf) read(d *shelvedDump) {
	ctx, cancel := context.WithCancel(s.hub.ctx)
	d.state, d.cancel = shelfReading, cancel
	s.hub.spawn(func() {
		defer cancel()
		watch := s.watch(ctx, d.id)
		index, err := readDump(d.path, d.format, watch)
		if ctx.Err() == nil {
			s.finish(d, index, err)
		}
	})
}

// finish takes in what was read.
func (s *dumpShelf) finish(d *shelvedDump, index *dump.Index, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.find(d.id) != d {
		return // closed meanwhile
	}
	d.cancel = nil
	if err != nil {
		d.state = shelfFailed
		s.hub.tell(func(store *model.Store) { store.SetStatus(d.id, model.StatusFailed, err.Error()) })
	} else {
		d.state, d.bytes = shelfKept, indexBytes(index)
		status, why := dumpStatus(index.Dump)
		s.hub.tell(func(store *model.Store) {
			store.SetDump(d.id, index)
			store.SetStatus(d.id, status, why)
			s.hub.publish(store.Snapshot(recorder.MonotonicClock()(), time.Now().UnixNano())) // not with the next tick
		})
		_, reading := s.reading()
		s.makeRoom(reading)
	}
	s.readNext()
}

// A long reading: from when on it tells how far it is, and its first part is
// shown.
const (
	progressAfter = 300 * time.Millisecond
	partAfter     = 400 * time.Millisecond
	partGrowth    = 4         // the next part is shown after so many times as long
	mostInPart    = 4_000_000 // events: an index of a part is memory on top of the whole
)

// watch tells the store of a reading that takes long, and shows its first part.
func (s *dumpShelf) watch(ctx context.Context, id string) open.Watch {
	begun := time.Now()
	told, nextPart := begun.Add(progressAfter-publishEvery), begun.Add(s.partAfter)
	return open.Watch{
		Progress: func(done, total, events int64) bool {
			if now := time.Now(); now.Sub(told) >= publishEvery {
				told = now
				progress := model.Progress{Done: done, Size: total, Count: events, LeftNs: leftOf(now.Sub(begun), done, total)}
				s.hub.tell(func(store *model.Store) { store.SetProgress(id, progress) })
			}
			return ctx.Err() == nil
		},
		Partial: func(part *recorder.Dump) {
			now := time.Now()
			if now.Before(nextPart) || eventsOf(part) > mostInPart || !s.isShown(id) {
				return
			}
			index := dump.New(part)
			s.hub.tell(func(store *model.Store) { store.SetDump(id, index) })
			nextPart = now.Add(partGrowth * now.Sub(begun))
		},
	}
}

func (s *dumpShelf) isShown(id string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.shown == id
}

// leftOf is how long the rest of a file takes if it goes on as so far, in ns; 0
// when that cannot be told.
func leftOf(taken time.Duration, done, total int64) int64 {
	if done <= 0 || total <= done {
		return 0
	}
	return int64(float64(taken) / float64(done) * float64(total-done))
}

func eventsOf(part *recorder.Dump) (events int) {
	for i := range part.Devices {
		events += part.Devices[i].Events.Len()
	}
	return events
}

// What an event takes in memory, in its columns and in the indexes, and what a
// byte of a file is expected to come to before it was read.
const (
	bytesOfEvent  = 50
	bytesOfBlock  = 40
	bytesOfPlain  = 0.6 // an event takes 90 bytes of a pickle and more
	bytesOfPacked = 10
	bytesOfIndex  = 64 << 10
)

// indexBytes is about what an index holds on to.
func indexBytes(index *dump.Index) int64 {
	bytes := int64(bytesOfIndex + 4*len(index.Dump.Stacks.Frames) + 64*len(index.Dump.Strings) + 16*len(index.Dump.Frames))
	for _, d := range index.Devices {
		bytes += bytesOfEvent*int64(d.Events.Len()) + bytesOfBlock*int64(d.Blocks.Len())
	}
	return bytes
}

// expectedBytes is about what a file's index will take.
func expectedBytes(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return bytesOfIndex
	}
	share := bytesOfPlain
	if isPacked(path) {
		share = bytesOfPacked
	}
	return bytesOfIndex + int64(share*float64(info.Size()))
}

// isPacked says whether a file begins like one of gzip or zstd.
func isPacked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [4]byte
	_, _ = file.Read(head[:])
	return head[0] == 0x1f && head[1] == 0x8b || recorder.IsZstd(head[:])
}
