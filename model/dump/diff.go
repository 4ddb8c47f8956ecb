package dump

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"vramscope/recorder"
)

// Diff is what two moments have, side by side by the content of stacks, as
// `vramscope diff --json` prints it.
type Diff struct {
	A    DiffSide  `json:"a"`
	B    DiffSide  `json:"b"`
	Rows []DiffRow `json:"rows"` // by how much the bytes changed, the most first; unchanged stacks last
}

// DiffSide is one of the moments.
type DiffSide struct {
	Name       string `json:"name"`
	Device     string `json:"device"`
	Moment     string `json:"moment"`
	EventIndex int    `json:"event_index"` // -1 before the first event
	TimeUs     *int64 `json:"time_us"`
	Bytes      int64  `json:"bytes"` // requested, of all that is live
	Count      int64  `json:"count"`
}

// Change says how a stack differs between two moments.
type Change string

// The changes, by bytes; of stacks with the same bytes, by count.
const (
	ChangeGrown  Change = "grown"
	ChangeShrunk Change = "shrunk"
	ChangeNew    Change = "new"
	ChangeGone   Change = "gone"
	ChangeSame   Change = "same"
)

// DiffRow is a stack on both sides, with requested bytes.
type DiffRow struct {
	Frames []FrameReport `json:"frames"` // innermost first
	ABytes int64         `json:"a_bytes"`
	BBytes int64         `json:"b_bytes"`
	ACount int64         `json:"a_count"`
	BCount int64         `json:"b_count"`
	Change Change        `json:"change"`

	stackA, stackB int32
}

// Stacks are the row's stack numbers in the two dumps; a side that does not
// have the stack has noStack.
func (r *DiffRow) Stacks() (a, b int32, inA, inB bool) {
	return r.stackA, r.stackB, r.stackA != noStack, r.stackB != noStack
}

const noStack = int32(-2)

// Delta is B's bytes less A's.
func (r *DiffRow) Delta() int64 { return r.BBytes - r.ABytes }

// Side is a moment of a device of a dump.
type Side struct {
	Index  *Index
	Device int    // number in Index.Devices; -1 for Index.Main
	Name   string // such as the file's name
	Moment Moment
}

// NewDiff compares two moments, of one dump or of two. An error is a
// *MomentError.
func NewDiff(a, b Side) (*Diff, error) {
	diff := &Diff{Rows: []DiffRow{}}
	frames, rows := frameNumbers{}, map[string]int{}
	for n, side := range []*Side{&a, &b} {
		into := &diff.A
		if n == 1 {
			into = &diff.B
		}
		totals, err := side.totals(into)
		if err != nil {
			return nil, err
		}
		content := frames.of(side.Index.Dump)
		for _, total := range totals {
			key := stackKey(side.Index.Stack(total.Stack), content)
			at, known := rows[key]
			if !known {
				at = len(diff.Rows)
				rows[key] = at
				diff.Rows = append(diff.Rows, DiffRow{Frames: side.Index.frameReports(total.Stack), stackA: noStack, stackB: noStack})
			}
			diff.Rows[at].add(n, total)
		}
	}
	for i := range diff.Rows {
		diff.Rows[i].Change = diff.Rows[i].change()
	}
	diff.sort()
	return diff, nil
}

// totals finds what is live at the side's moment and describes it.
func (s *Side) totals(into *DiffSide) ([]StackTotal, error) {
	*into = DiffSide{Name: CleanText(s.Name), Moment: s.Moment.String(), EventIndex: BeforeFirst}
	number := s.Device
	if number < 0 {
		number = s.Index.Main()
	}
	if number < 0 || number >= len(s.Index.Devices) {
		return nil, nil
	}
	d := s.Index.Devices[number]
	into.Device = d.Name()
	totals, err := d.ByStack(s.Moment)
	if err != nil {
		return nil, err
	}
	into.EventIndex, _ = d.Event(s.Moment)
	into.TimeUs = d.timeReport(into.EventIndex)
	for _, total := range totals {
		into.Bytes += total.Bytes
		into.Count += total.Count
	}
	return totals, nil
}

func (r *DiffRow) add(side int, total StackTotal) {
	if side == 0 {
		r.ABytes += total.Bytes
		r.ACount += total.Count
		r.stackA = total.Stack
	} else {
		r.BBytes += total.Bytes
		r.BCount += total.Count
		r.stackB = total.Stack
	}
}

func (r *DiffRow) change() Change {
	switch {
	case r.ACount == 0:
		return ChangeNew
	case r.BCount == 0:
		return ChangeGone
	}
	switch cmp.Or(cmp.Compare(r.BBytes, r.ABytes), cmp.Compare(r.BCount, r.ACount)) {
	case 1:
		return ChangeGrown
	case -1:
		return ChangeShrunk
	}
	return ChangeSame
}

// sort puts the largest change first. Equal ones keep their order, which is
// that of the sides' own totals.
func (d *Diff) sort() {
	size := func(r *DiffRow) int64 { return max(r.Delta(), -r.Delta()) }
	slices.SortStableFunc(d.Rows, func(a, b DiffRow) int {
		return cmp.Or(cmp.Compare(size(&b), size(&a)), -cmp.Compare(abs(a.BCount-a.ACount), abs(b.BCount-b.ACount)))
	})
}

func abs(n int64) int64 { return max(n, -n) }

// frameNumbers gives frames of several dumps numbers by content.
type frameNumbers map[frameContent]uint32

type frameContent struct {
	name, file string
	line       int64
}

// of is the number of each of a dump's frames.
func (f frameNumbers) of(dump *recorder.Dump) []uint32 {
	numbers := make([]uint32, len(dump.Frames))
	text := func(number uint32) string {
		if int(number) < len(dump.Strings) {
			return dump.Strings[number]
		}
		return ""
	}
	for i := range dump.Frames {
		content := frameContent{text(dump.Frames[i].Name), text(dump.Frames[i].File), dump.Frames[i].Line}
		number, known := f[content]
		if !known {
			number = uint32(len(f))
			f[content] = number
		}
		numbers[i] = number
	}
	return numbers
}

// stackKey is equal for stacks of equal content. Frames that are none keep
// their own numbers, which no content has.
func stackKey(frames []uint32, content []uint32) string {
	key := make([]byte, 0, 4*len(frames))
	for _, frame := range frames {
		if int(frame) < len(content) {
			frame = content[frame]
		}
		key = binary.LittleEndian.AppendUint32(key, frame)
	}
	return string(key)
}

// WriteText writes what changed for people.
func (d *Diff) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, side := range []struct {
		name string
		*DiffSide
	}{{"A", &d.A}, {"B", &d.B}} {
		fmt.Fprintf(out, "%s  %s %s at %s (%s): %s in %d blocks\n",
			side.name, side.Name, side.Device, side.Moment, at(side.EventIndex), amount(side.Bytes), side.Count)
	}
	fmt.Fprintf(out, "\n%12s %12s %12s %9s  %-6s  %s\n", "B − A", "A", "B", "count", "", "stack")
	same := 0
	for i := range d.Rows {
		r := &d.Rows[i]
		if r.Change == ChangeSame {
			same++
			continue
		}
		fmt.Fprintf(out, "%12s %12s %12s %+9d  %-6s  %s\n", signed(r.Delta()), bytesText(r.ABytes), bytesText(r.BBytes),
			r.BCount-r.ACount, r.Change, framesText(r.Frames))
	}
	if same > 0 {
		fmt.Fprintf(out, "the same on both sides: %s\n", countOf(same, "stack"))
	}
	return out.Flush()
}

func signed(bytes int64) string {
	if bytes > 0 {
		return "+" + bytesText(bytes)
	}
	return bytesText(bytes)
}
