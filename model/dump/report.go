package dump

import "fmt"

// Report is what a dump says in figures, as `vramscope report --json` prints
// it. All sizes are in bytes, times in Unix microseconds. The figures at the
// top are those of the device with the most events. What is not known is null.
type Report struct {
	Format string `json:"format"`
	DeviceReport
	Devices   []DeviceReport `json:"devices"`
	Truncated bool           `json:"truncated"`
}

// DeviceReport is the figures of one device.
type DeviceReport struct {
	Device         string          `json:"device"`
	Events         int             `json:"events"`
	Segments       int             `json:"segments"`
	Blocks         int             `json:"blocks"`
	DistinctStacks int             `json:"distinct_stacks"` // by content over the events, an empty one too
	DistinctFrames int             `json:"distinct_frames"` // in these stacks
	Bytes          BytesReport     `json:"bytes"`           // at the end
	Baseline       int64           `json:"baseline_requested_bytes"`
	Peak           PeakReport      `json:"peak"`
	PeakAllocated  *PointReport    `json:"peak_allocated"`
	PeakReserved   *PointReport    `json:"peak_reserved"`
	Largest        int64           `json:"largest_free_block"`
	Fragmentation  float64         `json:"fragmentation"` // 1 − largest / total inactive; 0 when nothing is
	Free           int64           `json:"free_bytes"`    // in inactive blocks
	Releasable     int64           `json:"releasable_bytes"`
	Rounding       int64           `json:"rounding_bytes"` // in blocks beyond what was asked for
	FreeBy         []ShelfReport   `json:"free"`
	OOMs           []OOMReport     `json:"ooms"`
	Unfreed        []StackReport   `json:"unfreed"`
	HistoryCut     bool            `json:"history_cut"`
	HistoryReason  string          `json:"history_reason"`
	Settings       []SettingReport `json:"settings"`
	Problems       []string        `json:"problems"`
}

// BytesReport is a state's bytes. Reserved is null when the dump has nothing
// about memory from the driver.
type BytesReport struct {
	Reserved  *int64 `json:"reserved"`
	Allocated int64  `json:"allocated"`
	Active    int64  `json:"active"`
	Requested int64  `json:"requested"`
}

// PeakReport is the peak by requested bytes. EventIndex is the first of equal
// maxima, -1 when nothing exceeds what was there before the first event.
type PeakReport struct {
	Requested  int64         `json:"requested_bytes"`
	EventIndex int           `json:"event_index"`
	TimeUs     *int64        `json:"time_us"`
	Top        []StackReport `json:"top"` // adds up to Requested
}

// PointReport is a peak without its stacks.
type PointReport struct {
	Bytes      int64  `json:"bytes"`
	EventIndex int    `json:"event_index"`
	TimeUs     *int64 `json:"time_us"`
}

// StackReport is what a stack has.
type StackReport struct {
	Bytes  int64         `json:"bytes"`
	Count  int64         `json:"count"`
	Frames []FrameReport `json:"frames"` // innermost first
}

// FrameReport is a frame with the keys that PyTorch's snapshots use. Blocks
// from before the recording have one named "before recording".
type FrameReport struct {
	Name     string `json:"name"`
	Filename string `json:"filename,omitempty"`
	Line     *int64 `json:"line,omitempty"`
}

// ShelfReport is the free memory of a pool and stream.
type ShelfReport struct {
	Pool       [2]int64 `json:"pool"`
	Stream     string   `json:"stream"`
	Small      bool     `json:"small"`
	Reserved   int64    `json:"reserved_bytes"`
	Free       int64    `json:"free_bytes"`
	Largest    int64    `json:"largest_free_block"`
	Releasable int64    `json:"releasable_bytes"`
}

// OOMReport is an allocation that failed.
type OOMReport struct {
	EventIndex    int           `json:"event_index"`
	TimeUs        *int64        `json:"time_us"`
	Asked         int64         `json:"asked_bytes"`
	DeviceFree    *int64        `json:"device_free_bytes"`
	Reserved      int64         `json:"reserved_bytes"`
	Allocated     int64         `json:"allocated_bytes"`
	ReservedFree  int64         `json:"reserved_free_bytes"`
	UsableFree    *int64        `json:"usable_free_bytes"` // of its pool, stream and size class
	UsableLargest *int64        `json:"usable_largest_block"`
	Reason        Reason        `json:"reason"`
	Explanation   []string      `json:"explanation"` // empty beyond the first hundred
	Frames        []FrameReport `json:"frames"`
	ToGo          []StackReport `json:"would_have_had_to_go"`
}

// SettingReport is one of the allocator's settings.
type SettingReport struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// mostStacks is how many stacks a list in a report names; the others are one
// row, so that the list still adds up.
const mostStacks = 1000

// mostExplained is how many out-of-memory events a report explains: a program
// that retries may have very many.
const mostExplained = 100

// Report collects the figures.
func (x *Index) Report() *Report {
	r := &Report{Format: CleanText(x.Dump.Format), Truncated: x.Dump.Truncated}
	for _, d := range x.Devices {
		r.Devices = append(r.Devices, d.report())
	}
	if main := x.Main(); main >= 0 {
		r.DeviceReport = r.Devices[main]
	} else {
		r.DeviceReport = DeviceReport{
			Peak: PeakReport{EventIndex: BeforeFirst, Top: []StackReport{}}, FreeBy: []ShelfReport{}, OOMs: []OOMReport{},
			Unfreed: []StackReport{}, Settings: []SettingReport{},
		}
		r.Devices = []DeviceReport{}
	}
	r.Problems = cleanTexts(x.Problems)
	return r
}

func (d *Device) report() DeviceReport {
	x := d.index
	space := d.EndMap().Space()
	r := DeviceReport{
		Device: d.Name(), Events: d.Events.Len(), Segments: len(d.Segments), Blocks: d.Blocks.Len(),
		DistinctStacks: d.UsedStacks, DistinctFrames: d.usedFrames(), Bytes: d.bytesReport(), Baseline: d.Base[Requested],
		PeakAllocated: d.point(Allocated), Largest: space.Largest, Fragmentation: space.Fragmentation(), Free: space.Free,
		Releasable: space.Releasable, Rounding: space.Rounding(), FreeBy: []ShelfReport{}, OOMs: []OOMReport{},
		Unfreed: x.stackReports(d.UnfreedByStack()), Settings: []SettingReport{}, Problems: cleanTexts(d.Problems),
	}
	if d.Reserves {
		r.PeakReserved = d.point(Reserved)
	}
	peak := d.Peaks[Requested]
	r.Peak = PeakReport{
		Requested: peak.Bytes, EventIndex: peak.Event, TimeUs: d.timeReport(peak.Event),
		Top: x.stackReports(d.LiveByStack(peak.Event)),
	}
	r.HistoryCut, r.HistoryReason = d.History()
	for _, shelf := range d.EndMap().Shelves() {
		r.FreeBy = append(r.FreeBy, ShelfReport{
			Pool: x.PoolID(shelf.Pool), Stream: x.StreamName(shelf.Stream), Small: shelf.Small, Reserved: shelf.Reserved,
			Free: shelf.Free, Largest: shelf.Largest, Releasable: shelf.Releasable,
		})
	}
	for i, event := range d.OOMEvents {
		r.OOMs = append(r.OOMs, d.oomReport(int(event), i < mostExplained))
	}
	for _, setting := range x.Dump.Settings {
		r.Settings = append(r.Settings, SettingReport{CleanText(setting.Key), CleanText(setting.Value)})
	}
	return r
}

// History says whether the trace lacks its beginning, and in words what is
// known about that. A trace that began late, with bytes already there, is not
// cut.
func (d *Device) History() (cut bool, reason string) {
	overflowed := d.index.Dump.Overflowed && d.Events.Len() > 0
	base := ""
	if bytes := d.Base[Requested]; bytes > 0 {
		base = fmt.Sprintf("before recording %s were allocated and %s reserved", bytesText(bytes), bytesText(d.Base[Reserved]))
	}
	switch {
	case overflowed && d.Unseen > 0:
		return true, fmt.Sprintf("the ring of events was overwritten: %d frees are of blocks never seen allocated; %s", d.Unseen, base)
	case overflowed:
		return true, "the ring of events was overwritten, by its own word"
	case d.Unseen > 0:
		return true, fmt.Sprintf("%d frees are of blocks never seen allocated: earlier events are missing; %s", d.Unseen, base)
	case base != "" && d.Events.Len() > 0:
		return false, "the recording began late: " + base
	case d.Events.Len() == 0:
		return false, "no history was recorded"
	}
	return false, ""
}

// bytesReport is the end state's bytes.
func (d *Device) bytesReport() BytesReport {
	b := BytesReport{Allocated: d.End[Allocated], Active: d.End.Active(), Requested: d.End[Requested]}
	if reserved := d.End[Reserved]; d.Reserves {
		b.Reserved = &reserved
	}
	return b
}

func (d *Device) point(s Series) *PointReport {
	peak := d.Peaks[s]
	return &PointReport{Bytes: peak.Bytes, EventIndex: peak.Event, TimeUs: d.timeReport(peak.Event)}
}

func (d *Device) timeReport(event int) *int64 {
	if event < 0 || event >= d.Events.Len() || d.Events.TimeUs[event] == 0 {
		return nil
	}
	us := d.Events.TimeUs[event]
	return &us
}

func (d *Device) oomReport(event int, explained bool) OOMReport {
	x := d.index
	o := d.failure(event)
	r := OOMReport{
		EventIndex: event, TimeUs: d.timeReport(event), Asked: o.Asked, Reserved: o.Totals[Reserved],
		Allocated: o.Totals[Allocated], ReservedFree: o.ReservedFree(), Reason: o.Reason,
		Explanation: []string{}, Frames: x.frameReports(o.Stack), ToGo: []StackReport{},
	}
	if o.Driver >= 0 {
		r.DeviceFree = &o.Driver
	}
	if explained {
		o = d.OOM(event)
		r.UsableFree, r.UsableLargest = &o.Usable.Free, &o.Usable.Largest
		r.Explanation, r.ToGo = x.Explain(&o), x.stackReports(o.Go)
	}
	return r
}

// usedFrames counts the frames in stacks of events.
func (d *Device) usedFrames() (count int) {
	dump := d.index.Dump
	used := make([]bool, len(dump.Frames))
	for stack := range dump.Stacks.Len() {
		if d.tally.seen[stack/64]>>(stack%64)&1 == 0 {
			continue
		}
		for _, frame := range dump.Stacks.Stack(int32(stack)) {
			if int(frame) < len(used) && !used[frame] {
				used[frame] = true
				count++
			}
		}
	}
	return count
}

func (x *Index) stackReports(totals []StackTotal) []StackReport {
	rows := make([]StackReport, 0, min(len(totals), mostStacks+1))
	for _, total := range totals[:min(len(totals), mostStacks)] {
		rows = append(rows, StackReport{total.Bytes, total.Count, x.frameReports(total.Stack)})
	}
	if len(totals) > mostStacks {
		rest := StackReport{Frames: []FrameReport{{Name: fmt.Sprintf("%d smaller stacks", len(totals)-mostStacks)}}}
		for _, total := range totals[mostStacks:] {
			rest.Bytes += total.Bytes
			rest.Count += total.Count
		}
		rows = append(rows, rest)
	}
	return rows
}

// frameReports are a stack's frames; none for an empty stack.
func (x *Index) frameReports(stack int32) []FrameReport {
	frames := []FrameReport{}
	for _, frame := range x.Stack(stack) {
		switch {
		case frame == FrameNoStack:
		case int(frame) >= len(x.Dump.Frames):
			frames = append(frames, FrameReport{Name: x.FrameName(frame)})
		default:
			f := &x.Dump.Frames[frame]
			row := FrameReport{Name: x.FrameName(frame), Filename: CleanText(x.text(f.File))}
			if line := f.Line; line >= 0 {
				row.Line = &line
			}
			frames = append(frames, row)
		}
	}
	return frames
}

// StreamName is a stream in the order of appearance: "s0" is the default one.
func (x *Index) StreamName(stream uint16) string { return fmt.Sprintf("s%d", stream) }

// PoolID is a memory pool's ID; (0,0) is the default one.
func (x *Index) PoolID(pool uint16) [2]int64 {
	if int(pool) >= len(x.Dump.MemoryPools) {
		return [2]int64{}
	}
	return x.Dump.MemoryPools[pool]
}

func cleanTexts(texts []string) []string {
	clean := make([]string, 0, len(texts))
	for _, text := range texts {
		clean = append(clean, CleanText(text))
	}
	return clean
}
