package ui

import (
	"fmt"
	"strings"
	"time"

	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/ui/grid"
)

// unreadText says why there is nothing to show of a dump: it is being read, it
// was let go, or reading it failed. fills says what would be shown.
func unreadText(s *scene, fills string) string {
	switch {
	case s.view == nil:
		return strings.TrimSpace("Nothing is watched. " + fills)
	case s.view.Dump != nil:
		return strings.TrimSpace("This dump has no device. " + fills)
	case s.view.StatusWhy != "":
		return s.view.StatusWhy
	case s.view.Summary != nil:
		return "The indexes of this dump were let go to save memory and are being read again."
	}
	return "This dump is being read."
}

// momentText is the moment in words.
func (f *dumpFacts) momentText() string {
	switch {
	case f.atEnd:
		return "the end state"
	case f.event < 0:
		return "before the first event"
	}
	return "after event " + countText(f.event)
}

// titleText is the moment as a title.
func (f *dumpFacts) titleText() string {
	switch {
	case f.title != "":
	case f.atEnd:
		f.title = "End state"
	case f.event < 0:
		f.title = "Before the first event"
	default:
		f.title = "Event " + countText(f.event) + ": " + f.device.Events.Action[f.event].String()
	}
	return f.title
}

// timeText is when an event was: the time since the first one, and the date
// and time of day; "" where the trace has no times.
func (f *dumpFacts) timeText(event int) string {
	us := f.device.TimeAt(event)
	if event < 0 || us == 0 {
		return ""
	}
	return "+" + secondsText(us-f.device.FirstUs) + ", " + time.UnixMicro(us).Format("2006-01-02 15:04:05.000000")
}

// secondsText is microseconds as seconds with all their decimals.
func secondsText(us int64) string {
	return fmt.Sprintf("%d.%06d s", us/1_000_000, us%1_000_000)
}

// originOf says where a series comes from.
func (f *dumpFacts) originOf(series dump.Series) string {
	if f.atEnd {
		return "the dump's end state, added up over its blocks"
	}
	switch series {
	case dump.Requested:
		return "the trace, replayed from the baseline: to the byte"
	case dump.Reserved:
		return "the trace's segments, replayed back from the end state"
	}
	if f.device.Exact {
		return "the trace, replayed by the allocator's own rules; its end is the dump's end state, block by block"
	}
	return "the trace, replayed by the allocator's own rules; its end differs from the dump's end state"
}

// details is everything about the moment that is looked at.
func (f *dumpFacts) details() (title string, lines []string) {
	return f.titleText(), append(f.eventLines(f.explanation()), f.stackLines(f.stackOf(), true)...)
}

// failed says whether the event that is looked at is an allocation that failed.
func (f *dumpFacts) failed() bool {
	return !f.atEnd && f.event >= 0 && f.device.Events.Action[f.event] == recorder.DumpOOM
}

// explanation says why the allocation that is looked at failed; nothing of other
// events.
func (f *dumpFacts) explanation() []string {
	if !f.failed() {
		return nil
	}
	oom := f.device.OOM(f.event)
	return f.index.Explain(&oom)
}

// stackOf is the stack of the event that is looked at; 0, which is empty, where
// there is none.
func (f *dumpFacts) stackOf() int32 {
	if f.atEnd || f.event < 0 {
		return 0
	}
	return f.device.Events.Stack[f.event]
}

// eventLines say what happened, without the stack. why is the explanation of a
// failed allocation, which comes before when it was.
func (f *dumpFacts) eventLines(why []string) (lines []string) {
	switch {
	case f.atEnd:
		return f.endLines()
	case f.event < 0:
		return f.beginLines()
	}
	e, at := f.device.Events, f.event
	lines = append(lines, why...)
	if text := f.timeText(at); text != "" {
		lines = append(lines, text)
	}
	lines = append(lines, f.whatText())
	if text := f.partnerText(); text != "" {
		lines = append(lines, text)
	}
	for _, note := range e.Notes[at] {
		lines = append(lines, dump.CleanText(note.Key)+": "+dump.CleanText(note.Value))
	}
	return lines
}

// whatText is the event itself: bytes, place, stream and pool.
func (f *dumpFacts) whatText() string {
	e, at := f.device.Events, f.event
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s)", grid.AppendBytes(nil, e.Bytes[at]), grid.AppendExact(nil, e.Bytes[at]))
	if held := f.device.SizeAt(at); held > 0 && held != e.Bytes[at] {
		fmt.Fprintf(&text, ", a block of %s", grid.AppendExact(nil, held))
	}
	if e.Address[at] != 0 {
		text.WriteString(" at ")
		text.Write(appendAddress(nil, e.Address[at]))
	}
	fmt.Fprintf(&text, ", stream %s", f.index.StreamName(e.Stream[at]))
	if pool := f.index.PoolID(e.Pool[at]); pool != ([2]int64{}) {
		fmt.Fprintf(&text, ", pool (%d,%d)", pool[0], pool[1])
	}
	return text.String()
}

// partnerText is the other end of the block's life.
func (f *dumpFacts) partnerText() string {
	action := f.device.Events.Action[f.event]
	frees := action == recorder.DumpFreeRequested || action == recorder.DumpFreeCompleted || action == recorder.DumpFree
	partner := f.device.Partner(f.event)
	switch {
	case !frees && action != recorder.DumpAlloc:
		return ""
	case partner < 0 && frees:
		return "allocated before the recording"
	case partner < 0:
		return "not freed by the end of the trace"
	}
	text := "freed by event " + countText(partner)
	if frees {
		text = "allocated by event " + countText(partner)
	}
	from, to := f.device.TimeAt(min(partner, f.event)), f.device.TimeAt(max(partner, f.event))
	if from != 0 && to != 0 {
		text += ", after a life of " + string(grid.AppendDuration(nil, (to-from)*1000))
	}
	return text
}

// endLines say what the end state is.
func (f *dumpFacts) endLines() []string {
	d := f.device
	lines := []string{fmt.Sprintf("%s segments and %s blocks, as they were when the dump was written, after %s events.",
		countText(len(d.Segments)), countText(d.Blocks.Len()), countText(d.Events.Len()))}
	if len(d.Segments) == 0 {
		lines[0] = "The dump has no end state: this is what lives after the last of " + countText(d.Events.Len()) + " events."
	}
	if _, reason := d.History(); reason != "" {
		lines = append(lines, upperFirst(reason)+".")
	}
	return append(lines, d.Problems...)
}

// beginLines say what was there before the first event.
func (f *dumpFacts) beginLines() []string {
	if f.device.Base == (dump.Totals{}) {
		return []string{"Nothing is known to have been allocated before the recording."}
	}
	base := &f.device.Base
	return []string{fmt.Sprintf("Before the recording %s were allocated, for which %s were asked, and %s reserved.",
		grid.AppendBytes(nil, base.Active()), grid.AppendBytes(nil, base[dump.Requested]), grid.AppendBytes(nil, base[dump.Reserved]))}
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// stackLines are the frames of a stack, innermost first; with all, those that
// only add noise too.
func (f *dumpFacts) stackLines(stack int32, all bool) (lines []string) {
	frames, whole := f.index.FoldedStack(stack), f.index.Stack(stack)
	if all {
		frames = whole
	}
	for i, frame := range frames {
		if i == mostFrames {
			return append(lines, "and "+countText(len(frames)-i)+" frames more")
		}
		text := f.index.FrameName(frame)
		if place := f.index.FramePlace(frame); place != "" {
			text += "  " + place
		}
		lines = append(lines, text)
	}
	if hidden := len(whole) - len(frames); hidden > 0 {
		lines = append(lines, countText(hidden)+" frames of the interpreter are not shown: enter shows them")
	}
	return lines
}

// mostFrames bounds what is shown of a stack.
const mostFrames = 256
