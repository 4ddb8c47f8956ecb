package dump

import "math"

// Series is one of the running byte counts of a device.
type Series int

// The series. Requested falls when a free completes, as torch's
// requested_bytes does; Allocated falls when it is asked for, as
// allocated_bytes does, and Pending holds the block until it completes: the
// two together are active_bytes. Reserved is what came from the driver.
const (
	Requested Series = iota
	Allocated
	Pending
	Reserved
	seriesCount
)

var seriesNames = [seriesCount]string{"requested", "allocated", "pending free", "reserved"}

// String is the word for a series.
func (s Series) String() string { return seriesNames[s] }

// Totals is the value of each series in bytes.
type Totals [seriesCount]int64

// Active is what is in blocks that cannot be handed out: allocated or waiting
// for a stream.
func (t *Totals) Active() int64 { return t[Allocated] + t[Pending] }

// Column is what a stretch of events did, for one column of a chart. An empty
// stretch has From == To and carries on the value from before it.
type Column struct {
	From, To       int    // events [From, To)
	Min, Max, Last Totals // in bytes; Last is after the last event
}

// chunk is how many events lie under one node of the pyramid's lowest level,
// fanOut how many nodes under one of the next.
const (
	chunk  = 64
	fanOut = 16
)

// extent is the smallest and the largest value of each series in a stretch.
type extent struct{ min, max Totals }

var noExtent = func() (e extent) {
	for s := range e.min {
		e.min[s], e.max[s] = math.MaxInt64, math.MinInt64
	}
	return e
}()

func (e *extent) join(other *extent) {
	for s := range e.min {
		e.min[s] = min(e.min[s], other.min[s])
		e.max[s] = max(e.max[s], other.max[s])
	}
}

func (e *extent) add(value *Totals) {
	for s := range e.min {
		e.min[s] = min(e.min[s], value[s])
		e.max[s] = max(e.max[s], value[s])
	}
}

// pyramid holds the extents of a device's series by stretches of events. Its
// values are relative to the state before the first event.
type pyramid struct {
	last   []Totals // after each chunk
	levels [][]extent
}

// close builds the levels above the lowest one.
func (p *pyramid) close() {
	for level := p.levels[0]; len(level) > fanOut; {
		above := make([]extent, (len(level)+fanOut-1)/fanOut)
		for i := range above {
			above[i] = noExtent
			for at := i * fanOut; at < min((i+1)*fanOut, len(level)); at++ {
				above[i].join(&level[at])
			}
		}
		p.levels = append(p.levels, above)
		level = above
	}
}

// span joins the whole chunks [from, to) into e.
func (p *pyramid) span(e *extent, from, to int) {
	for _, level := range p.levels {
		if to-from < 2*fanOut {
			for ; from < to; from++ {
				e.join(&level[from])
			}
			return
		}
		for ; from%fanOut != 0; from++ {
			e.join(&level[from])
		}
		for ; to%fanOut != 0; to-- {
			e.join(&level[to-1])
		}
		from, to = from/fanOut, to/fanOut
	}
	top := p.levels[len(p.levels)-1]
	for from, to = from*fanOut, to*fanOut; from < to; from++ { // the climb ended above the top
		e.join(&top[from])
	}
}

// At is the value of each series after an event; BeforeFirst gives that before
// the first one.
func (d *Device) At(event int) Totals {
	event = min(event, d.Events.Len()-1)
	if event < 0 {
		return d.Base
	}
	at := d.start(event / chunk)
	for i := event / chunk * chunk; i <= event; i++ {
		d.apply(&at, i)
	}
	return at
}

// start is the value before the first event of a chunk.
func (d *Device) start(number int) Totals {
	at := d.Base
	if number > 0 {
		for s, value := range d.pyramid.last[number-1] {
			at[s] += value
		}
	}
	return at
}

// Columns divides the events [from, to) evenly over columns and fills them.
// Its cost grows with the number of columns, not with that of events.
func (d *Device) Columns(columns []Column, from, to int) {
	from, to = d.clamp(from, to)
	for i := range columns {
		d.fill(&columns[i], from+(to-from)*i/len(columns), from+(to-from)*(i+1)/len(columns))
	}
}

// ColumnsByTime divides the time [from, to) in Unix microseconds evenly over
// columns and fills them.
func (d *Device) ColumnsByTime(columns []Column, from, to int64) {
	count := int64(len(columns))
	first := d.FirstFrom(from)
	for i := range columns {
		k := int64(i + 1)
		edge := from + (to-from)/count*k + (to-from)%count*k/count
		next := max(d.FirstFrom(edge), first)
		d.fill(&columns[i], first, next)
		first = next
	}
}

// Extent is the smallest and the largest value of each series in the events
// [from, to), as a column.
func (d *Device) Extent(from, to int) (column Column) {
	from, to = d.clamp(from, to)
	d.fill(&column, from, to)
	return column
}

func (d *Device) clamp(from, to int) (int, int) {
	to = min(max(to, 0), d.Events.Len())
	return min(max(from, 0), to), to
}

func (d *Device) fill(column *Column, from, to int) {
	column.From, column.To = from, to
	if from >= to {
		column.Last = d.At(from - 1)
		column.Min, column.Max = column.Last, column.Last
		return
	}
	whole := noExtent
	first, last := (from+chunk-1)/chunk, to/chunk
	if first < last {
		d.pyramid.span(&whole, first, last)
		for s, base := range d.Base {
			whole.min[s] += base
			whole.max[s] += base
		}
		if from < first*chunk {
			d.walk(&whole, from, first*chunk)
		}
		column.Last = d.start(last)
		if last*chunk < to {
			column.Last = d.walk(&whole, last*chunk, to)
		}
	} else {
		column.Last = d.walk(&whole, from, to)
	}
	column.Min, column.Max = whole.min, whole.max
}

// walk joins the values after each of the events [from, to), which lie in one
// or two chunks, and returns the last one.
func (d *Device) walk(e *extent, from, to int) Totals {
	at := d.start(from / chunk)
	for i := from / chunk * chunk; i < to; i++ {
		d.apply(&at, i)
		if i >= from {
			e.add(&at)
		}
	}
	return at
}

// PeakIn finds the first event in [from, to) after which a series has its
// largest value there. An empty stretch gives from-1.
func (d *Device) PeakIn(series Series, from, to int) (event int, bytes int64) {
	from, to = d.clamp(from, to)
	event, bytes = from-1, math.MinInt64
	if from >= to {
		return event, d.At(event)[series]
	}
	consider := func(from, to int) {
		at := d.start(from / chunk)
		for i := from / chunk * chunk; i < to; i++ {
			d.apply(&at, i)
			if i >= from && at[series] > bytes {
				event, bytes = i, at[series]
			}
		}
	}
	first, last := (from+chunk-1)/chunk, to/chunk
	if first >= last {
		consider(from, to)
		return event, bytes
	}
	consider(from, first*chunk)
	lowest := d.pyramid.levels[0]
	for i := first; i < last; i++ {
		if d.Base[series]+lowest[i].max[series] > bytes {
			consider(i*chunk, (i+1)*chunk)
		}
	}
	consider(last*chunk, to)
	return event, bytes
}
