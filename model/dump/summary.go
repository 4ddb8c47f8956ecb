package dump

// Summary is what a list of dumps shows of one. It stays when the index itself
// is let go, so that many dumps can be open at once.
type Summary struct {
	Format    string
	Devices   []DeviceSummary // those of Index.Devices that hold anything
	Problems  []string        // as Index.Problems
	Truncated bool
}

// DeviceSummary is a device in one row.
type DeviceSummary struct {
	Number        int // in Index.Devices
	Name          string
	Events        int
	Segments      int
	PeakRequested Peak
	PeakAllocated Peak
	PeakReserved  Peak
	End           Totals // bytes
	Reserves      bool   // the dump says something about reserved bytes
	OOMs          int
	HistoryCut    bool
	HistoryReason string // "" for a whole history
	Problems      int

	room    int64 // free on the device and in the pool at the last OOM, bytes
	roomAt  int   // that OOM's event
	hasRoom bool
}

// Headroom is as Device.Headroom says.
func (d *DeviceSummary) Headroom(reserve int64) (bytes int64, event int, known bool) {
	if !d.hasRoom {
		return 0, BeforeFirst, false
	}
	return d.room - reserve, d.roomAt, true
}

// Summary is the index in one row for each device.
func (x *Index) Summary() *Summary {
	s := &Summary{Format: x.Dump.Format, Problems: x.Problems, Truncated: x.Dump.Truncated}
	for number, d := range x.Devices {
		if d.Events.Len() == 0 && len(d.Segments) == 0 && len(x.Devices) > 1 {
			continue
		}
		row := DeviceSummary{
			Number: number, Name: d.Name(), Events: d.Events.Len(), Segments: len(d.Segments),
			PeakRequested: d.Peaks[Requested], PeakAllocated: d.Peaks[Allocated], PeakReserved: d.Peaks[Reserved],
			End: d.End, Reserves: d.Reserves, OOMs: len(d.OOMEvents), Problems: len(d.Problems),
		}
		row.HistoryCut, row.HistoryReason = d.History()
		row.room, row.roomAt, row.hasRoom = d.Headroom(0)
		s.Devices = append(s.Devices, row)
	}
	return s
}
