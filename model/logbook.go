package model

// logbook is the lines that stay. Entries are numbered from 1 and none is left
// out: a reader that remembers the last Seq it saw finds all later ones, unless
// more came between two snapshots than the log holds.
type logbook struct {
	limit   int
	entries []Entry // append-only for readers; replaced when it is cut
	seq     uint64
}

func (l *logbook) add(entry Entry) {
	l.seq++
	entry.Seq = l.seq
	l.entries = bound(append(l.entries, entry), l.limit)
}

// WallOf is the moment of an entry in Unix ns. A recording was perhaps made on
// another machine, or before this one was started: its monotonic clock is its own.
func (s *Snapshot) WallOf(entry *Entry) int64 {
	if entry.Wall != 0 {
		return entry.Wall
	}
	return s.Wall - (s.Now - entry.Ns)
}

// Since is the entries after the one of that number, as they were heard. A reader that
// passes the last number it saw gets what is new.
func (s *Snapshot) Since(seq uint64) []Entry {
	if len(s.Log) == 0 || s.Log[len(s.Log)-1].Seq <= seq {
		return nil
	}
	first := s.Log[0].Seq
	if seq < first {
		return s.Log
	}
	return s.Log[seq-first+1:]
}

// String is the level in a word.
func (l Level) String() string {
	switch l {
	case LevelError:
		return "error"
	case LevelWarning:
		return "warning"
	}
	return "info"
}
