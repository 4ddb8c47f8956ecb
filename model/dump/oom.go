package dump

import (
	"fmt"
	"slices"
	"strings"
)

// Reason says why an allocation failed.
type Reason string

// The reasons. A dump without the device's free bytes allows none of them.
const (
	ReasonFull    Reason = "device full"
	ReasonPieces  Reason = "free bytes in pieces"
	ReasonLimit   Reason = "process limit"
	ReasonUnknown Reason = "unknown"
)

// OOM is an allocation that failed, with the state just then.
type OOM struct {
	Event      int
	Stack      int32 // who asked
	Asked      int64 // bytes, rounded up, as the allocator recorded it
	Needed     int64 // bytes of the segment that the allocator would have asked the driver for
	Totals     Totals
	Driver     int64 // bytes free on the device, -1 when the dump does not say
	Usable     Shelf // free memory of the pool, stream and size class that asked
	Largest    int64 // the largest free block anywhere
	Releasable int64 // bytes in segments that are wholly free
	Highest    int64 // the most that was reserved up to then
	Reason     Reason
	Short      int64        // bytes that were missing; for a limit, at most
	Go         []StackTotal // the largest live stacks that together hold Short; all when they do not
}

// ReservedFree is what was reserved and in no block.
func (o *OOM) ReservedFree() int64 { return o.Totals[Reserved] - o.Totals.Active() }

// OOM explains one of OOMEvents.
func (d *Device) OOM(event int) OOM {
	o := d.failure(event)
	for _, shelf := range d.MapAt(event).Shelves() {
		o.Largest = max(o.Largest, shelf.Largest)
		o.Releasable += shelf.Releasable
		if shelf.Pool == o.Usable.Pool && shelf.Stream == o.Usable.Stream && shelf.Small == o.Usable.Small {
			o.Usable = shelf
		}
	}
	if o.Reason != ReasonUnknown {
		o.Go = enough(d.LiveByStack(event), o.Short-o.Releasable)
	}
	return o
}

// failure is what can be told of an out-of-memory event without its map.
func (d *Device) failure(event int) OOM {
	r := rulesOf(d.index.Dump.Settings, d.Host)
	o := OOM{
		Event: event, Stack: d.Events.Stack[event], Asked: d.Events.Bytes[event], Totals: d.At(event), Driver: -1,
		Usable:  Shelf{Pool: d.Events.Pool[event], Stream: d.Events.Stream[event]},
		Highest: max(d.Extent(0, event+1).Max[Reserved], d.Base[Reserved]), Reason: ReasonUnknown,
	}
	o.Usable.Small, o.Needed = r.small(o.Asked), r.segment(o.Asked)
	if free, known := d.Events.Free[event]; known {
		o.Driver = free
	}
	o.judge()
	return o
}

// judge finds the reason and what was missing.
func (o *OOM) judge() {
	switch {
	case o.Driver < 0:
		return
	case o.Driver >= o.Needed:
		// The driver had the memory, so it was not asked: the process had
		// reserved what it allows itself, which is no less than it ever did.
		o.Reason, o.Short = ReasonLimit, o.Totals[Reserved]+o.Needed-o.Highest
		if o.Short <= 0 { // it had more once: the limit came later
			o.Short = o.Needed
		}
	case o.ReservedFree() >= o.Asked:
		o.Reason, o.Short = ReasonPieces, o.Needed-o.Driver
	default:
		o.Reason, o.Short = ReasonFull, o.Needed-o.Driver
	}
}

// enough is the largest totals that together hold so many bytes.
func enough(totals []StackTotal, bytes int64) []StackTotal {
	for i, total := range totals {
		if bytes <= 0 {
			return slices.Clone(totals[:i])
		}
		bytes -= total.Bytes
	}
	return totals
}

// Explain says in sentences what happened, why, and what would have had to go.
func (x *Index) Explain(o *OOM) []string {
	var lines []string
	say := func(format string, values ...any) { lines = append(lines, fmt.Sprintf(format, values...)) }
	driver := "how much was free on the device is not recorded"
	if o.Driver >= 0 {
		driver = bytesText(o.Driver) + " were free on the device"
	}
	say("%s were asked for (rounded up); %s; %s were reserved, of which %s free.",
		bytesText(o.Asked), driver, bytesText(o.Totals[Reserved]), bytesText(o.ReservedFree()))
	if pending := o.Totals[Pending]; pending > 0 {
		say("%s more had been freed and waited for other streams.", bytesText(pending))
	}
	say("The largest free block that this pool and stream could have used has %s, of %s free there.",
		bytesText(o.Usable.Largest), bytesText(o.Usable.Free))
	switch o.Reason {
	case ReasonLimit:
		limit := "less than " + fineText(o.Totals[Reserved]+o.Needed)
		if o.Highest < o.Totals[Reserved]+o.Needed {
			limit = "at least " + fineText(o.Highest) + " and " + limit
		}
		say("The device had the memory: the process had set itself a limit, %s "+
			"(torch.cuda.set_per_process_memory_fraction sets one).", limit)
	case ReasonPieces:
		if o.Usable.Free >= o.Asked {
			say("The free bytes were in pieces: together they would have been enough, no piece was.")
		} else {
			say("The free bytes were in pieces: enough of them were reserved, in blocks of other pools and streams or too small ones.")
		}
	case ReasonFull:
		say("The device was full: neither it nor what was reserved had the bytes.")
	default:
		say("Why is not known: the dump does not say how much was free on the device.")
	}
	if o.Usable.Largest >= o.Asked {
		say("A free block was large enough and was not used: max_split_size keeps large blocks for large requests.")
	}
	if line := x.toGo(o); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// toGo says what would have had to go.
func (x *Index) toGo(o *OOM) string {
	if o.Reason == ReasonUnknown || o.Short == 0 {
		return ""
	}
	most := ""
	if o.Reason == ReasonLimit {
		most = "at most "
	}
	text := fmt.Sprintf("%s%s were missing", most, bytesText(o.Short))
	if o.Releasable > 0 {
		text += fmt.Sprintf("; %s lay in segments that were wholly free and could have gone back", bytesText(o.Releasable))
	}
	if len(o.Go) == 0 {
		return upper(text) + "."
	}
	const named = 3
	var names []string
	for _, total := range o.Go[:min(named, len(o.Go))] {
		names = append(names, fmt.Sprintf("%s of %s", bytesText(total.Bytes), x.StackName(total.Stack)))
	}
	if more := len(o.Go) - named; more > 0 {
		names = append(names, countOf(more, "more stack"))
	}
	return upper(text) + "; what would have had to go, as far as that: " + strings.Join(names, ", ") + "."
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// StackName is a stack in a few words: its innermost frame that is no noise.
func (x *Index) StackName(stack int32) string {
	frame := x.FoldedStack(stack)[0]
	if place := x.FramePlace(frame); place != "" {
		return x.FrameName(frame) + " (" + place + ")"
	}
	return x.FrameName(frame)
}

// Headroom is what could still have been allocated at the last out-of-memory
// event, in bytes: free on the device and free in the pool, less a reserve.
// It is not known without such an event, since nothing else in a dump says what
// was free on the device.
func (d *Device) Headroom(reserve int64) (bytes int64, event int, known bool) {
	for _, oom := range slices.Backward(d.OOMEvents) {
		if free, has := d.Events.Free[int(oom)]; has {
			at := d.At(int(oom))
			return free + at[Reserved] - at.Active() - reserve, int(oom), true
		}
	}
	return 0, BeforeFirst, false
}
