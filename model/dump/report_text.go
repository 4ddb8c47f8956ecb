package dump

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// textStacks is how many stacks a list names in text, textOOMs how many
// failures are explained.
const (
	textStacks = 10
	textOOMs   = 10
)

// WriteText writes the report for people. Whatever the dump holds, no control
// character but line ends comes out.
func (r *Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n", r.Format)
	if len(r.Devices) == 0 {
		fmt.Fprintln(out, "no device")
	}
	for i := range r.Devices {
		r.Devices[i].write(out)
	}
	if len(r.Problems) > 0 {
		fmt.Fprintf(out, "\nproblems\n")
		for _, problem := range r.Problems {
			fmt.Fprintf(out, "  ! %s\n", problem)
		}
	}
	return out.Flush()
}

func (r *DeviceReport) write(out io.Writer) {
	fmt.Fprintf(out, "\n%s: %d events, %d segments, %d blocks, %d stacks\n", r.Device, r.Events, r.Segments, r.Blocks, r.DistinctStacks)
	line := func(name, format string, values ...any) {
		fmt.Fprintf(out, "  %-16s %s\n", name, fmt.Sprintf(format, values...))
	}
	reserved := "not recorded"
	if r.Bytes.Reserved != nil {
		reserved = amount(*r.Bytes.Reserved)
	}
	line("reserved", "%s", reserved)
	line("allocated", "%s", amount(r.Bytes.Allocated))
	if r.Bytes.Active != r.Bytes.Allocated {
		line("active", "%s", amount(r.Bytes.Active))
	}
	line("requested", "%s", amount(r.Bytes.Requested))
	if r.Events > 0 {
		line("peak requested", "%s %s", amount(r.Peak.Requested), at(r.Peak.EventIndex))
		line("peak allocated", "%s %s", amount(r.PeakAllocated.Bytes), at(r.PeakAllocated.EventIndex))
		if r.PeakReserved != nil {
			line("peak reserved", "%s %s", amount(r.PeakReserved.Bytes), at(r.PeakReserved.EventIndex))
		}
		line("before recording", "%s requested", amount(r.Baseline))
	}
	line("free", "%s, largest block %s, fragmentation %.0f %%", amount(r.Free), amount(r.Largest), 100*r.Fragmentation)
	line("releasable", "%s", amount(r.Releasable))
	line("rounding", "%s", amount(r.Rounding))
	if r.HistoryReason != "" {
		line("history", "%s", r.HistoryReason)
	}
	r.writeFree(out)
	for i := range r.OOMs[:min(len(r.OOMs), textOOMs)] {
		r.OOMs[i].write(out)
	}
	if more := len(r.OOMs) - textOOMs; more > 0 {
		fmt.Fprintf(out, "  out of memory: %s\n", countOf(more, "more time"))
	}
	if r.Events > 0 {
		writeStacks(out, fmt.Sprintf("live at the requested peak (%s)", at(r.Peak.EventIndex)), r.Peak.Top)
		writeStacks(out, "allocated in the trace and not freed by its end", r.Unfreed)
	}
}

func (r *DeviceReport) writeFree(out io.Writer) {
	if len(r.FreeBy) == 0 {
		return
	}
	fmt.Fprintf(out, "  free by pool and stream\n")
	for _, shelf := range r.FreeBy {
		size := "large"
		if shelf.Small {
			size = "small"
		}
		fmt.Fprintf(out, "    pool (%d,%d) %s %s: %s of %s free, largest block %s, releasable %s\n", shelf.Pool[0], shelf.Pool[1],
			shelf.Stream, size, bytesText(shelf.Free), bytesText(shelf.Reserved), bytesText(shelf.Largest), bytesText(shelf.Releasable))
	}
}

func (r *OOMReport) write(out io.Writer) {
	fmt.Fprintf(out, "  out of memory %s: %s\n", at(r.EventIndex), r.Reason)
	for _, sentence := range r.Explanation {
		fmt.Fprintf(out, "    %s\n", sentence)
	}
	if len(r.Frames) > 0 {
		fmt.Fprintf(out, "    asked by %s\n", framesText(r.Frames))
	}
}

func writeStacks(out io.Writer, title string, stacks []StackReport) {
	fmt.Fprintf(out, "  %s\n", title)
	if len(stacks) == 0 {
		fmt.Fprintf(out, "    nothing\n")
	}
	for _, s := range stacks[:min(len(stacks), textStacks)] {
		fmt.Fprintf(out, "    %10s %7d×  %s\n", bytesText(s.Bytes), s.Count, framesText(s.Frames))
	}
	if more := len(stacks) - textStacks; more > 0 {
		bytes, count := int64(0), int64(0)
		for _, s := range stacks[textStacks:] {
			bytes += s.Bytes
			count += s.Count
		}
		fmt.Fprintf(out, "    %10s %7d×  in %s\n", bytesText(bytes), count, countOf(more, "smaller stack"))
	}
}

// textFrames is how many frames of a stack stand on its line.
const textFrames = 4

func framesText(frames []FrameReport) string {
	if len(frames) == 0 {
		return specialFrames[FrameNoStack]
	}
	var parts []string
	for _, f := range frames[:min(len(frames), textFrames)] {
		text := f.Name
		switch {
		case f.Line != nil:
			text += fmt.Sprintf(" %s:%d", f.Filename, *f.Line)
		case f.Filename != "":
			text += " " + f.Filename
		}
		parts = append(parts, text)
	}
	if more := len(frames) - textFrames; more > 0 {
		parts = append(parts, countOf(more, "more frame"))
	}
	return strings.Join(parts, " ← ")
}

func amount(bytes int64) string { return fmt.Sprintf("%s (%d)", bytesText(bytes), bytes) }

func at(event int) string {
	if event == BeforeFirst {
		return "before the first event"
	}
	return fmt.Sprintf("after event %d", event)
}
