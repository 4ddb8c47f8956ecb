package recorder

import (
	"bytes"
	"errors"
	"io"
)

// Problems is what a Decoder found wrong so far.
type Problems struct {
	Lines     int64     // read, bad ones included
	Records   int64     // of these, records
	BadLines  int64     // no records, and not of an unknown type
	LongLines int64     // longer than MaxLine
	Unknown   int64     // records of a type that this program does not know
	First     []Problem // the first bad and long lines, at most 16
	CutBytes  int64     // bytes behind the last whole record that are part of one; 0 where the input ends with a line feed
	LastNs    int64     // moment of the last record that had one
}

// Problem is a line that was skipped.
type Problem struct {
	Line   int64  // from 1
	Offset int64  // of its first byte
	Reason string // in words; it quotes nothing of the input
}

const maxProblems = 16

// Decoder reads records from a stream. It is for one goroutine.
//
// The end of the input is not final: after io.EOF, Next reads on where the input
// has grown, in the middle of a line too, so that a file can be followed while
// it is written.
//
// Its memory is bounded by the longest line, whatever the input holds.
type Decoder struct {
	input      io.Reader
	buffer     []byte // [start, end) has been read and not decoded
	start, end int
	searched   int   // bytes of [start, end) that hold no line feed
	skipped    int64 // bytes of a line that is too long; 0 while none is skipped
	offset     int64 // of buffer[start] in the input
	lineStart  int64 // of the line taken last
	tried      int   // length of the last line without a line feed that was no record
	failed     error
	lines      lineDecoder
	problems   Problems
}

// Sizes of the buffer: at first, and what is read at least at a time.
const (
	firstBuffer = 64 << 10
	readAtLeast = 16 << 10
)

// NewDecoder returns a Decoder that reads from input.
func NewDecoder(input io.Reader) *Decoder {
	return &Decoder{input: input, lines: lineDecoder{names: &atoms{}}}
}

// Problems is what was found wrong so far.
func (d *Decoder) Problems() Problems { return d.problems }

// Offset is how many bytes of the input have been decoded or skipped.
func (d *Decoder) Offset() int64 { return d.offset }

// Next returns the next record. Lines that are no records are skipped and
// counted. The error is io.EOF at the end of what is there now, a
// *ProtocolError when a hello asks for a newer reader (nothing can be read
// after that), or the input's.
//
// The record is the caller's; nothing of it is used again.
func (d *Decoder) Next() (Record, error) {
	for d.failed == nil {
		line, err := d.line()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			continue
		}
		if record := d.decode(line); record != nil {
			return record, nil
		}
	}
	return nil, d.failed
}

// decode reads a whole line; nil if it is no record.
func (d *Decoder) decode(line []byte) Record {
	d.problems.Lines++
	record, err := d.lines.decode(line)
	if err == nil {
		d.took(record)
		return record
	}
	var unknown *UnknownTypeError
	var protocol *ProtocolError
	switch {
	case errors.As(err, &unknown):
		d.problems.Unknown++
	case errors.As(err, &protocol):
		d.failed = err
	default:
		d.problems.BadLines++
		var bad *LineError
		errors.As(err, &bad)
		d.note(d.lineStart, bad.Reason)
	}
	return nil
}

// took counts a record.
func (d *Decoder) took(record Record) {
	d.problems.Records++
	if ns := record.Time(); ns != 0 {
		d.problems.LastNs = ns
	}
}

// note keeps one of the first problems.
func (d *Decoder) note(offset int64, reason string) {
	if len(d.problems.First) < maxProblems {
		d.problems.First = append(d.problems.First, Problem{Line: d.problems.Lines, Offset: offset, Reason: reason})
	}
}

// line returns the next line without its line feed, or a last one without a
// line feed if it is a whole record. It is valid until the next call.
func (d *Decoder) line() ([]byte, error) {
	for {
		if at := bytes.IndexByte(d.buffer[d.start+d.searched:d.end], '\n'); at >= 0 {
			if line, ok := d.takeLine(d.searched + at); ok {
				return line, nil
			}
			continue
		}
		d.searched = d.end - d.start
		if d.skipped > 0 || d.searched > MaxLine {
			d.skipSearched()
		}
		n, err := d.fill()
		if n > 0 {
			d.problems.CutBytes = 0
			continue
		}
		if errors.Is(err, io.EOF) {
			return d.lastLine()
		}
		if err != nil {
			return nil, err
		}
	}
}

// takeLine takes the next length bytes and their line feed. ok is false for the
// rest of a line that is too long, and for one as a whole.
func (d *Decoder) takeLine(length int) (line []byte, ok bool) {
	line = d.buffer[d.start : d.start+length]
	d.lineStart = d.offset - d.skipped
	d.start += length + 1
	d.offset += int64(length) + 1
	d.searched, d.tried = 0, 0
	if d.skipped > 0 || length > MaxLine {
		d.problems.Lines++
		d.problems.LongLines++
		d.note(d.lineStart, "the line is longer than a record may be")
		d.skipped = 0
		return nil, false
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), true
}

// skipSearched forgets what is there of a line that is too long.
func (d *Decoder) skipSearched() {
	d.skipped += int64(d.searched)
	d.offset += int64(d.searched)
	d.start, d.end, d.searched = 0, 0, 0
}

// fill reads more of the input behind what is there.
func (d *Decoder) fill() (int, error) {
	if len(d.buffer)-d.end < readAtLeast {
		d.makeRoom()
	}
	for range 100 {
		n, err := d.input.Read(d.buffer[d.end:])
		d.end += n
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, io.ErrNoProgress
}

// makeRoom moves what is there to the front, into a larger buffer if it must.
// A line that has no end yet is at most MaxLine long, which bounds it.
func (d *Decoder) makeRoom() {
	held := d.end - d.start
	into := d.buffer
	if len(into)-held < readAtLeast || len(into) == 0 {
		into = make([]byte, max(2*len(into), firstBuffer))
	}
	copy(into, d.buffer[d.start:d.end])
	d.buffer, d.start, d.end = into, 0, held
}

// lastLine looks at what stands behind the last line feed. If it is a whole
// record it counts; otherwise the input was cut, or has not been written yet.
func (d *Decoder) lastLine() ([]byte, error) {
	rest := d.buffer[d.start:d.end]
	if d.skipped == 0 && len(rest) != d.tried && bytes.HasSuffix(rest, []byte{'}'}) {
		d.tried = len(rest)
		if _, err := d.lines.decode(rest); !isLineError(err) {
			d.lineStart = d.offset
			d.start, d.searched, d.tried = d.end, 0, 0
			d.offset += int64(len(rest))
			d.problems.CutBytes = 0
			return rest, nil
		}
	}
	d.problems.CutBytes = d.skipped + int64(len(rest))
	return nil, io.EOF
}

// isLineError says that a line is no record, as one that was cut.
func isLineError(err error) bool {
	var bad *LineError
	return errors.As(err, &bad)
}
