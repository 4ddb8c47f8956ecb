package model

import (
	"cmp"
	"fmt"
	"slices"

	"vramscope/model/costs"
	"vramscope/model/dump"
	"vramscope/recorder"
)

// KindDump is the kind of a memory dump, which speaks no records.
const KindDump = "dump"

// KindCosts is the kind of a calibration file of another program, which says
// what scopes take at any number of frames. It speaks no records either.
const KindCosts = "costs"

// SourceInfo is what is known of a source before it speaks.
type SourceInfo struct {
	ID   string // as Source.ID says
	Kind string // recorder.Kind…, KindDump or KindCosts, as far as it can be told; "" otherwise
	Name string // what to call it until its hello
	File string // path of a recording; "" for a live source
	Own  bool   // a program that was started to be watched here
}

// Progress is how far a file has been read.
type Progress struct {
	Done, Size int64             // bytes; Size is 0 while it is not known
	Count      int64             // events, of a memory dump
	LeftNs     int64             // until all is read, ns; 0 while it is not known
	Problems   recorder.Problems // what could not be read
}

// Store folds the records of all sources and makes snapshots of what they
// amount to. It belongs to one goroutine; its snapshots may be read by any.
type Store struct {
	options Options
	sources []*storedSource // by appearance
	log     logbook
	self    SelfCost
	dirty   bool
	last    *Snapshot
}

// storedSource is one Source with everything that speaks through it: a recording
// can hold several programs, and NVML has a source for each GPU.
type storedSource struct {
	info     SourceInfo
	keepers  []*keeper // by appearance
	status   Status
	why      string
	progress Progress
	dump     *dump.Index // of a memory dump, as far as it was read; nil while it was let go
	summary  *dump.Summary
	costs    *costs.Index
	refused  bool  // it speaks a version that is not understood
	heard    int64 // store's monotonic ns of the newest record
}

// NewStore makes an empty store.
func NewStore(options Options) *Store {
	if options.LogEntries <= 0 {
		options.LogEntries = defaultLogEntries
	}
	if options.PublishEvery <= 0 {
		options.PublishEvery = defaultPublishEvery
	}
	return &Store{options: options, dirty: true, log: logbook{limit: (options.LogEntries + 1) / 2}}
}

// Add makes a source known. One that is known already stays as it is.
func (s *Store) Add(info SourceInfo) {
	if s.find(info.ID) != nil {
		return
	}
	source := &storedSource{info: info}
	if info.File != "" {
		source.status = StatusLoading
	}
	s.sources = append(s.sources, source)
	s.dirty = true
}

// Remove forgets a source and everything it told.
func (s *Store) Remove(id string) {
	s.sources = slices.DeleteFunc(s.sources, func(source *storedSource) bool { return source.info.ID == id })
	s.dirty = true
}

// SetStatus says how a source is doing; why is a sentence, "" when there is
// nothing to say. A change to the worse is a line of the log.
func (s *Store) SetStatus(id string, status Status, why string) {
	source := s.find(id)
	if source == nil || source.refused || source.status == status && source.why == why {
		return
	}
	source.status, source.why = status, why
	s.change(source)
	abrupt := status == StatusEnded && why != "" // a goodbye says itself why
	if status != StatusFailed && status != StatusLost && status != StatusCut && !abrupt {
		return
	}
	level := LevelError
	if status == StatusCut || abrupt {
		level = LevelWarning
	}
	entry := Entry{Ns: s.now(), Source: id, Name: source.name(), Level: level, Kind: EntrySource, Text: cmp.Or(why, statusText(status))}
	if abrupt {
		for _, k := range source.keepers {
			entry.Text += k.fold.unanswered()
		}
	}
	if len(source.keepers) == 1 {
		entry = source.keepers[0].signed(entry)
	}
	s.log.add(entry)
}

// SetWaiting says why a source has not spoken yet. One that has is left as it is.
func (s *Store) SetWaiting(id, why string) {
	if source := s.find(id); source != nil && len(source.keepers) == 0 && source.status <= StatusConnecting {
		s.SetStatus(id, StatusConnecting, why)
	}
}

// SetProgress says how far a file has been read.
func (s *Store) SetProgress(id string, progress Progress) {
	if source := s.find(id); source != nil {
		source.progress = progress
		s.change(source)
	}
}

// SetDump gives a file the memory dump that it holds, as far as it was read. nil
// lets the dump go, to save memory: its summary stays.
func (s *Store) SetDump(id string, index *dump.Index) {
	if source := s.find(id); source != nil {
		source.dump = index
		if index != nil {
			source.summary = index.Summary()
		}
		s.change(source)
	}
}

// SetCosts gives a file what it says of the costs of scopes.
func (s *Store) SetCosts(id string, index *costs.Index) {
	if source := s.find(id); source != nil {
		source.costs = index
		s.change(source)
	}
}

// SetPublishEvery says how long after a snapshot the next one is published at
// the earliest, in ns.
func (s *Store) SetPublishEvery(ns int64) { s.options.PublishEvery = max(ns, 0) }

// SetSelf says what this program itself takes.
func (s *Store) SetSelf(cost SelfCost) {
	if s.self != cost {
		s.self = cost
		s.dirty = true
	}
}

// Sent notes that a command was sent to the source that a view shows.
func (s *Store) Sent(viewID string, command *recorder.Command, ns int64) {
	if k, _ := s.keeper(viewID); k != nil {
		sent := *command
		sent.Ns = ns
		k.take(&sent)
		s.dirty = true
	}
}

// SendFailed notes that a command could not be sent, and why.
func (s *Store) SendFailed(viewID string, command *recorder.Command, why string, ns int64) {
	if k, _ := s.keeper(viewID); k != nil {
		k.take(&recorder.Ack{Head: recorder.Head{Ns: ns}, ID: command.ID, Name: command.Name, State: recorder.AckFailed, Why: why})
		s.dirty = true
	}
}

// Fold takes a record of a source in. A source that nobody added is added. The
// error is a *recorder.ProtocolError when the source speaks a version that is
// not understood: it is then shown as failed, and what it says later is passed
// over.
func (s *Store) Fold(id string, record recorder.Record) error {
	source := s.find(id)
	if source == nil {
		s.Add(SourceInfo{ID: id})
		source = s.find(id)
	}
	if source.refused {
		return nil
	}
	hello, _ := record.(*recorder.Hello)
	if hello != nil && hello.Min > recorder.Protocol {
		err := &recorder.ProtocolError{Proto: hello.Proto, Min: hello.Min}
		s.SetStatus(id, StatusFailed, err.Error())
		source.refused = true
		return err
	}
	k := s.speaker(source, record.Source(), hello)
	k.take(record)
	source.heard = s.now()
	s.dirty = true
	s.follow(source, k, record)
	return nil
}

// speaker is the keeper of what speaks; a new one for a new voice.
func (s *Store) speaker(source *storedSource, src string, hello *recorder.Hello) *keeper {
	for i := len(source.keepers) - 1; i >= 0; i-- {
		k := source.keepers[i]
		if k.src != src && src != "" {
			continue
		}
		if hello == nil || k.fold.hello == nil || sameRun(k.fold.hello, hello) {
			return k
		}
		// Another program under the same name. A recording keeps both.
		if source.info.File == "" {
			source.keepers = slices.Delete(source.keepers, i, i+1)
		}
		break
	}
	limits := s.options.Live
	if source.info.File != "" {
		limits = s.options.Files
	}
	k := newKeeper(s.viewID(source, src), source.info.ID, src, limits, nil)
	k.fold.say = func(entry Entry) {
		entry.Source, entry.Name = k.id, cmp.Or(k.name(), source.name())
		if hello := k.fold.hello; source.info.File != "" && hello != nil && hello.Wall != 0 {
			entry.Wall = hello.Wall + entry.Ns - hello.Ns
		}
		s.log.add(k.signed(entry))
	}
	source.keepers = append(source.keepers, k)
	return k
}

// viewID is the ID of a new view. What a live source says of itself is its ID;
// the first voice of a recording takes the recording's own.
func (s *Store) viewID(source *storedSource, src string) string {
	id := cmp.Or(src, source.info.ID)
	if source.info.File != "" {
		id = source.info.ID
		if len(source.keepers) > 0 {
			id += "#" + src
		}
	}
	for unique, n := id, 2; ; n++ {
		if k, _ := s.keeper(unique); k == nil {
			return unique
		}
		unique = fmt.Sprintf("%s#%d", id, n)
	}
}

// follow draws the status of a live source from what it says.
func (s *Store) follow(source *storedSource, k *keeper, record recorder.Record) {
	if source.info.File == "" && (source.status == StatusConnecting || source.status == StatusStale) {
		source.status, source.why = StatusLive, ""
		s.change(source)
	}
	if _, ended := record.(*recorder.Bye); ended && k.src == source.info.ID && len(source.keepers) > 1 {
		// It spoke for the source as a whole, whose parts now speak themselves.
		source.keepers = slices.DeleteFunc(source.keepers, func(other *keeper) bool { return other == k })
	}
}

func (s *Store) find(id string) *storedSource {
	for _, source := range s.sources {
		if source.info.ID == id {
			return source
		}
	}
	return nil
}

// keeper finds what a view shows.
func (s *Store) keeper(viewID string) (*keeper, *storedSource) {
	for _, source := range s.sources {
		for _, k := range source.keepers {
			if k.id == viewID {
				return k, source
			}
		}
	}
	return nil, nil
}

// change marks the views of a source as out of date.
func (s *Store) change(source *storedSource) {
	for _, k := range source.keepers {
		k.view = nil
	}
	s.dirty = true
}

func (s *Store) now() int64 {
	if s.options.Clock == nil {
		return 0
	}
	now, _ := s.options.Clock()
	return now
}

// name is what to call the source in the log.
func (s *storedSource) name() string {
	for _, k := range s.keepers {
		if name := k.name(); name != "" {
			return name
		}
	}
	return cmp.Or(s.info.Name, s.info.File, s.info.ID)
}

// signed is an entry with what tells the program from others of its name.
func (k *keeper) signed(entry Entry) Entry {
	if hello := k.fold.hello; hello != nil && hello.Kind == recorder.KindProcess {
		entry.PID, entry.Rank = hello.PID, hello.Rank
	}
	return entry
}

func (k *keeper) name() string {
	if k.fold.hello != nil {
		return k.fold.hello.Name
	}
	return ""
}
