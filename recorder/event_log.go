package recorder

import (
	"encoding/binary"
	"iter"
	"math"

	"vramscope/arena"
)

// EventLog keeps an arena's events in about ten bytes each, in order. Appending
// belongs to one goroutine; a copy of the log is an immutable view of what it
// held then. The zero value is an empty log.
//
// Of an event only what differs from the expected is written: times and
// pointers as differences, and an allocation's pointer not at all where it
// moved by the bytes that were asked.
type EventLog struct {
	// What a copy of the log can see is never written again: chunks keep their
	// whole length, and how much of them is used stands in ends, and for the
	// last one in tail.
	chunks [][]byte
	ends   []int32
	tail   int32
	events int64
	bytes  int64 // memory of the chunks
	last   logState
}

// logState is what an entry's differences count from.
type logState struct {
	ns, frame, forward, reverse int64
}

// logPosition is a place between two entries of a log.
type logPosition struct {
	chunk, offset int32
}

// logChunk is how much memory a log takes at a time, bytes. The first chunks
// are smaller, for arenas that live shortly.
const (
	logChunk      = 16 << 10
	firstLogChunk = 512
)

// An entry begins with its op code and these bits, and a byte that says which
// fields follow.
const (
	logOpMask = 0x1f
	logParams = 0x20
	logFrame  = 0x40

	logBytes   = 0x01
	logItem    = 0x02
	logForward = 0x04
	logReverse = 0x08
	logScope   = 0x10
	logText    = 0x20
	logDType   = 0x40
	logFlags   = 0x80
)

// maxLogEntry is the longest entry without its parameters, bytes.
const maxLogEntry = 2 + 1 + 9*binary.MaxVarintLen64

// Len is the number of events.
func (l *EventLog) Len() int64 { return l.events }

// Bytes is the memory that the log takes.
func (l *EventLog) Bytes() int64 { return l.bytes }

// Append adds an event. One with an op code above 31, which no arena has, is
// left out.
func (l *EventLog) Append(event *ArenaEvent) {
	if event.Op > logOpMask {
		return
	}
	if l.events == 0 {
		l.last = logState{frame: -1}
	}
	entry := l.room(maxLogEntry + paramsBound(event.Params))
	start := len(entry)
	entry = append(entry, byte(event.Op), 0)
	entry = appendDifference(entry, event.Ns, l.last.ns)
	if event.Frame != l.last.frame {
		entry[start] |= logFrame
		entry = appendDifference(entry, event.Frame, l.last.frame)
	}
	var fields byte
	if event.Flags != 0 {
		fields |= logFlags
		entry = append(entry, event.Flags)
	}
	if event.Bytes != 0 {
		fields |= logBytes
		entry = binary.AppendVarint(entry, event.Bytes)
	}
	if event.ItemSize != 0 {
		fields |= logItem
		entry = binary.AppendVarint(entry, event.ItemSize)
	}
	forward, reverse := expectedPointers(event.Op, event.Bytes, l.last)
	if event.Forward != forward {
		fields |= logForward
		entry = appendDifference(entry, event.Forward, forward)
	}
	if event.Reverse != reverse {
		fields |= logReverse
		entry = appendDifference(entry, event.Reverse, reverse)
	}
	if event.Scope != 0 {
		fields |= logScope
		entry = binary.AppendUvarint(entry, event.Scope)
	}
	if event.Text != 0 {
		fields |= logText
		entry = binary.AppendUvarint(entry, uint64(event.Text))
	}
	if event.DType != 0 {
		fields |= logDType
		entry = binary.AppendUvarint(entry, uint64(event.DType))
	}
	entry[start+1] = fields
	if len(event.Params) > 0 {
		entry[start] |= logParams
		entry = appendLogParams(entry, event.Params)
	}
	l.tail = int32(len(entry))
	l.events++
	l.last = logState{ns: event.Ns, frame: event.Frame, forward: event.Forward, reverse: event.Reverse}
}

// All yields the events in order. The event it yields is overwritten by the
// next one.
func (l *EventLog) All() iter.Seq[*ArenaEvent] { return l.WithParams(0, l.events) }

// WithoutParams yields the events in order, but for their parameters: reading
// these makes garbage, which views of pointers and names can do without. The
// event it yields is overwritten by the next one.
func (l *EventLog) WithoutParams() iter.Seq[*ArenaEvent] { return l.WithParams(0, 0) }

// WithParams yields the events in order, of which those numbered [from, to),
// counted from 0, have their parameters. The event it yields is overwritten by
// the next one.
func (l *EventLog) WithParams(from, to int64) iter.Seq[*ArenaEvent] {
	return func(yield func(*ArenaEvent) bool) {
		reader := l.reader(logPosition{}, logState{frame: -1})
		for number := int64(0); ; number++ {
			reader.skipsParams = number < from || number >= to
			if !reader.next() || !yield(&reader.event) {
				return
			}
		}
	}
}

// end is the place behind the last entry.
func (l *EventLog) end() logPosition {
	return logPosition{chunk: int32(max(len(l.chunks)-1, 0)), offset: l.tail}
}

// used is how much of a chunk is used.
func (l *EventLog) used(chunk int32) int32 {
	if int(chunk) == len(l.chunks)-1 {
		return l.tail
	}
	return l.ends[chunk]
}

// room is what is used of the last chunk, with space for n more bytes behind.
func (l *EventLog) room(n int) []byte {
	last := len(l.chunks) - 1
	if last >= 0 && len(l.chunks[last])-int(l.tail) >= n {
		return l.chunks[last][:l.tail]
	}
	if last >= 0 {
		l.ends = append(l.ends, l.tail)
	}
	size := max(n, min(logChunk, firstLogChunk<<min(len(l.chunks), 16)))
	chunk := make([]byte, size)
	l.chunks = append(l.chunks, chunk)
	l.bytes += int64(size)
	l.tail = 0
	return chunk[:0]
}

// expectedPointers is where an event leaves the pointers if nothing is padded.
func expectedPointers(op arena.Op, bytes int64, last logState) (forward, reverse int64) {
	forward, reverse = last.forward, last.reverse
	switch op {
	case arena.OpAlloc:
		forward += bytes
	case arena.OpPersist:
		reverse -= bytes
	}
	return forward, reverse
}

func appendDifference(entry []byte, value, from int64) []byte {
	return binary.AppendVarint(entry, value-from)
}

// logReader walks over a log's entries.
type logReader struct {
	log   *EventLog
	at    logPosition
	last  logState
	event ArenaEvent

	skipsParams bool
}

// reader begins at a place in the log, where the pointers and the time are
// known.
func (l *EventLog) reader(at logPosition, from logState) logReader {
	return logReader{log: l, at: at, last: from}
}

// next reads an entry into r.event. It is false at the end of the log.
func (r *logReader) next() bool {
	for int(r.at.chunk) < len(r.log.chunks) && r.at.offset == r.log.used(r.at.chunk) {
		r.at.chunk++
		r.at.offset = 0
	}
	if int(r.at.chunk) >= len(r.log.chunks) {
		return false
	}
	entry := logBytesReader{rest: r.log.chunks[r.at.chunk][r.at.offset:r.log.used(r.at.chunk)]}
	length := len(entry.rest)
	head, fields := entry.byte(), entry.byte()
	event := &r.event
	*event = ArenaEvent{Op: arena.Op(head & logOpMask), Frame: r.last.frame}
	event.Ns = r.last.ns + entry.varint()
	if head&logFrame != 0 {
		event.Frame += entry.varint()
	}
	if fields&logFlags != 0 {
		event.Flags = entry.byte()
	}
	if fields&logBytes != 0 {
		event.Bytes = entry.varint()
	}
	if fields&logItem != 0 {
		event.ItemSize = entry.varint()
	}
	event.Forward, event.Reverse = expectedPointers(event.Op, event.Bytes, r.last)
	if fields&logForward != 0 {
		event.Forward += entry.varint()
	}
	if fields&logReverse != 0 {
		event.Reverse += entry.varint()
	}
	if fields&logScope != 0 {
		event.Scope = entry.uvarint()
	}
	if fields&logText != 0 {
		event.Text = uint32(entry.uvarint())
	}
	if fields&logDType != 0 {
		event.DType = uint32(entry.uvarint())
	}
	switch {
	case head&logParams == 0:
	case r.skipsParams:
		entry.skipParams()
	default:
		event.Params = entry.params()
	}
	r.at.offset += int32(length - len(entry.rest))
	r.last = logState{ns: event.Ns, frame: event.Frame, forward: event.Forward, reverse: event.Reverse}
	return true
}

// logBytesReader takes fields off the front of an entry, which Append wrote.
type logBytesReader struct{ rest []byte }

func (b *logBytesReader) byte() byte {
	first := b.rest[0]
	b.rest = b.rest[1:]
	return first
}

func (b *logBytesReader) varint() int64 {
	value, n := binary.Varint(b.rest)
	b.rest = b.rest[n:]
	return value
}

func (b *logBytesReader) uvarint() uint64 {
	value, n := binary.Uvarint(b.rest)
	b.rest = b.rest[n:]
	return value
}

func (b *logBytesReader) text() string {
	n := int(b.uvarint())
	text := string(b.rest[:n])
	b.rest = b.rest[n:]
	return text
}

func (b *logBytesReader) params() []arena.Param {
	params := make([]arena.Param, b.uvarint())
	for i := range params {
		param := &params[i]
		param.Kind = arena.ParamKind(b.byte())
		param.Name = b.text()
		switch param.Kind {
		case arena.ParamFloat:
			param.Float = math.Float64frombits(binary.LittleEndian.Uint64(b.rest))
			b.rest = b.rest[8:]
		case arena.ParamText:
			param.Text = b.text()
		default:
			param.Int = b.varint()
		}
	}
	return params
}

// skipParams passes over parameters.
func (b *logBytesReader) skipParams() {
	for range b.uvarint() {
		kind := arena.ParamKind(b.byte())
		b.skipText()
		switch kind {
		case arena.ParamFloat:
			b.rest = b.rest[8:]
		case arena.ParamText:
			b.skipText()
		default:
			b.varint()
		}
	}
}

func (b *logBytesReader) skipText() {
	n := b.uvarint()
	b.rest = b.rest[n:]
}

func appendLogParams(entry []byte, params []arena.Param) []byte {
	entry = binary.AppendUvarint(entry, uint64(len(params)))
	for i := range params {
		param := &params[i]
		entry = append(entry, byte(param.Kind))
		entry = binary.AppendUvarint(entry, uint64(len(param.Name)))
		entry = append(entry, param.Name...)
		switch param.Kind {
		case arena.ParamFloat:
			entry = binary.LittleEndian.AppendUint64(entry, math.Float64bits(param.Float))
		case arena.ParamText:
			entry = binary.AppendUvarint(entry, uint64(len(param.Text)))
			entry = append(entry, param.Text...)
		default:
			entry = binary.AppendVarint(entry, param.Int)
		}
	}
	return entry
}

// paramsBound is more than what appendLogParams writes.
func paramsBound(params []arena.Param) int {
	bound := binary.MaxVarintLen64
	for i := range params {
		bound += 1 + 3*binary.MaxVarintLen64 + len(params[i].Name) + len(params[i].Text)
	}
	return bound
}
