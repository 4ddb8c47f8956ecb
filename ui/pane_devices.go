package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// devicesPane is a table of every device that something tells of: GPUs by
// NVML, and the devices that only programs tell of.
type devicesPane struct {
	table widget.Table
	rows  deviceRows
	seen  *model.Snapshot
}

// deviceRow is one device as one source tells of it.
type deviceRow struct {
	view *model.SourceView
	set  *recorder.CounterSet // nil while there are no numbers
	name string
}

type deviceRows struct {
	rows []deviceRow
}

// What the column of names has at least, and what it is given before other
// columns are.
const narrowestDevice, widestDevice = 12, 28

// What the column of statuses has at least, and what the mark in front of one and
// its blank take.
const narrowestStatus, markWidth = 8, 2

// The columns of the table of devices.
const (
	deviceName = iota
	deviceUsed
	deviceFree
	deviceReserve
	deviceTotal
	deviceBar
	deviceUtilization
	deviceTemperature
	devicePower
	deviceClock
	devicePCIe
	deviceStatus
)

func newDevicesPane() *devicesPane {
	p := &devicesPane{}
	p.table = widget.Table{SortColumn: -1, Rows: &p.rows, Columns: []widget.TableColumn{
		deviceName:        {Title: "device", Width: narrowestDevice, Grow: 2},
		deviceUsed:        {Title: "used", Width: 10, Align: grid.Right},
		deviceFree:        {Title: "free", Width: 10, Align: grid.Right},
		deviceReserve:     {Title: "driver", Width: 10, Align: grid.Right, Drop: 4},
		deviceTotal:       {Title: "total", Width: 10, Align: grid.Right, Drop: 3},
		deviceBar:         {Title: "", Width: 8, Grow: 3, Drop: 2},
		deviceUtilization: {Title: "util", Width: 5, Align: grid.Right, Drop: 5},
		deviceTemperature: {Title: "temp", Width: 5, Align: grid.Right, Drop: 6},
		devicePower:       {Title: "power", Width: 6, Align: grid.Right, Drop: 7},
		deviceClock:       {Title: "clock", Width: 9, Align: grid.Right, Drop: 8},
		devicePCIe:        {Title: "PCIe in / out", Width: 24, Align: grid.Right, Drop: 9},
		deviceStatus:      {Title: "status", Width: narrowestStatus, Drop: 1},
	}}
	return p
}

func (*devicesPane) title(*scene) (string, string) { return "Devices", "" }
func (*devicesPane) keys() keymap.Context          { return keymap.List }

// collect finds the rows of a snapshot, once.
func (p *devicesPane) collect(s *scene) {
	if p.seen == s.snapshot {
		return
	}
	p.seen = s.snapshot
	p.rows.rows = p.rows.rows[:0]
	for _, view := range s.snapshot.Sources {
		found := false
		for i := range view.Sets {
			if set := &view.Sets[i]; set.Of == recorder.OfDevice && (view.Kind == recorder.KindDevice || !toldByDevice(s.snapshot, set.Device)) {
				p.add(deviceRow{view: view, set: set})
				found = true
			}
		}
		if !found && view.Kind == recorder.KindDevice {
			p.rows.rows = append(p.rows.rows, deviceRow{view: view})
		}
	}
	p.rows.name()
	name, status := narrowestDevice, narrowestStatus
	for _, d := range p.rows.rows {
		name, status = max(name, grid.Width(d.name)), max(status, markWidth+len(d.view.Status.String()))
	}
	p.table.Columns[deviceName].Width = min(name, widestDevice)
	p.table.Columns[deviceStatus].Width = status
	for column, counter := range columnCounters {
		p.table.Columns[column].Empty = !p.rows.anyTells(counter)
	}
	p.table.Selected = min(p.table.Selected, max(len(p.rows.rows)-1, 0))
}

// columnCounters are the numbers that not every device has: where none of those
// that are listed tells one, its column gives way.
var columnCounters = map[int]recorder.Counter{
	deviceReserve: recorder.DriverReserved, deviceUtilization: recorder.Utilization, deviceTemperature: recorder.Temperature,
	devicePower: recorder.Power, deviceClock: recorder.Clock, devicePCIe: recorder.PCIeReceive,
}

func (rows *deviceRows) anyTells(counter recorder.Counter) bool {
	for _, d := range rows.rows {
		if d.set != nil && d.view.Figure(d.set, counter).Known {
			return true
		}
	}
	return false
}

// name names the rows: what a program reads by the device and the program, and
// where two devices would have one name, by their UUIDs too.
func (rows *deviceRows) name() {
	for i := range rows.rows {
		row := &rows.rows[i]
		row.name = deviceTitle(row.view, row.set)
		for k := range rows.rows {
			other := &rows.rows[k]
			if row.byProgram() && other.byProgram() && other.set.Device != row.set.Device &&
				deviceTitle(other.view, other.set) == row.name {
				row.name += " " + model.ShortDevice(row.set.Device)
				break
			}
		}
		if row.byProgram() {
			row.name += " of " + row.view.Name
		}
	}
}

// byProgram says whether a program reads the device, which has no source of its own.
func (d *deviceRow) byProgram() bool { return d.set != nil && d.view.Kind != recorder.KindDevice }

// deviceTitle is what to call a device that a source reads.
func deviceTitle(view *model.SourceView, set *recorder.CounterSet) string {
	if set == nil {
		return view.Name
	}
	return view.DeviceTitle(set)
}

// add adds a row. A device that several programs read is one device all the
// same: it stands there once, as the one reads it that lives and read it last. Of
// files each stands for itself.
func (p *devicesPane) add(row deviceRow) {
	for i := range p.rows.rows {
		known := &p.rows.rows[i]
		if known.set == nil || known.set.Device != row.set.Device || known.view.File != row.view.File {
			continue
		}
		if known.view.Kind == recorder.KindDevice && row.view.Kind == recorder.KindDevice {
			continue
		}
		if isOver(known.view) && !isOver(row.view) || isOver(known.view) == isOver(row.view) && row.view.Now > known.view.Now {
			*known = row
		}
		return
	}
	p.rows.rows = append(p.rows.rows, row)
}

// toldByDevice says whether a device has a source of its own: what programs
// read of it is then the same device once more.
func toldByDevice(snapshot *model.Snapshot, device string) bool {
	for _, view := range snapshot.Sources {
		if view.Kind == recorder.KindDevice && deviceSetIn(view, device) != nil {
			return true
		}
	}
	return false
}

func (p *devicesPane) draw(r grid.Region, s *scene, _ bool) {
	p.collect(s)
	if len(p.rows.rows) == 0 {
		nothing(r, "No device is known. A GPU with its driver, or a program that tells of its device, fills this.")
		return
	}
	p.table.Offset = widget.ScrollTo(p.table.Offset, p.table.Selected, r.Height()-1, len(p.rows.rows))
	p.table.Draw(r)
}

func (p *devicesPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	if !moveIn(&p.table, action, len(p.rows.rows)) {
		return false
	}
	p.chosen(s)
	return true
}

func (p *devicesPane) click(_, y, _, _ int, s *scene) {
	if row := p.table.Offset + y - 1; y > 0 && row < len(p.rows.rows) {
		p.table.Selected = row
		p.chosen(s)
	}
}

// chosen tells the other panes which device is looked at.
func (p *devicesPane) chosen(s *scene) {
	if p.table.Selected < len(p.rows.rows) {
		row := p.rows.rows[p.table.Selected]
		s.choices.device = deviceChoice{view: row.view.ID}
		if row.set != nil {
			s.choices.device.set = row.set.ID
		}
	}
}

// moveIn moves the selection of a table; false for other actions.
func moveIn(t *widget.Table, action keymap.Action, rows int) bool {
	page := 10
	switch action {
	case keymap.Up:
		t.Selected--
	case keymap.Down:
		t.Selected++
	case keymap.PageUp:
		t.Selected -= page
	case keymap.PageDown:
		t.Selected += page
	case keymap.Top:
		t.Selected = 0
	case keymap.Bottom:
		t.Selected = rows - 1
	default:
		return false
	}
	t.Selected = min(max(t.Selected, 0), max(rows-1, 0))
	return true
}

// used is what is used of the device, or grid.Missing.
func (d *deviceRow) used() int64 {
	if d.set == nil {
		return grid.Missing
	}
	return value(d.view.DeviceUsed(d.set))
}

func (rows *deviceRows) Len() int { return len(rows.rows) }

func (rows *deviceRows) DrawCell(r grid.Region, row, column int) {
	d := rows.rows[row]
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	number := func(c recorder.Counter) int64 {
		if d.set == nil {
			return grid.Missing
		}
		return value(d.view.Figure(d.set, c))
	}
	width := r.Width()
	switch column {
	case deviceName:
		r.FitMiddle(0, 0, width, text, d.name)
	case deviceUsed:
		pen.Bytes(grid.Of(themes.Used), d.used(), width)
	case deviceFree:
		pen.Bytes(grid.Of(themes.Free), number(recorder.Free), width)
	case deviceReserve:
		pen.Bytes(grid.Of(themes.Driver), number(recorder.DriverReserved), width)
	case deviceTotal:
		pen.Bytes(grid.Of(themes.Total), number(recorder.Total), width)
	case deviceBar:
		widget.MiniBar(r, d.used(), number(recorder.Total), grid.Of(themes.Used))
	case deviceUtilization:
		pen.Percent(text, number(recorder.Utilization), 100, width)
	case deviceTemperature:
		drawUnit(&pen, text, number(recorder.Temperature), 1, "C", width)
	case devicePower:
		drawUnit(&pen, text, number(recorder.Power), 1000, "W", width)
	case deviceClock:
		drawUnit(&pen, text, number(recorder.Clock), 1, "MHz", width)
	case devicePCIe:
		half := (width - 2) / 2
		pen.Rate(dim, number(recorder.PCIeReceive), half)
		pen.Skip(2)
		pen.Rate(dim, number(recorder.PCIeTransmit), half)
	case deviceStatus:
		mark, style := widget.SourceMark(r.Glyphs(), sourceState(d.view, false))
		pen.Rune(style, mark)
		pen.Rune(dim, ' ')
		pen.Text(dim, d.view.Status.String())
		if d.view.Trouble != "" {
			pen.Text(grid.Of(themes.Warning), ": "+d.view.Trouble)
		} else if d.view.StatusWhy != "" {
			pen.Text(dim, ": "+d.view.StatusWhy)
		}
	}
}

// drawUnit writes a whole number, divided, with its unit.
func drawUnit(pen *grid.Pen, style grid.Style, n, divisor int64, unit string, width int) {
	if n == grid.Missing {
		pen.Count(style, n, width)
		return
	}
	pen.Count(style, n/divisor, max(width-len(unit)-1, 0))
	pen.Rune(style, ' ')
	pen.Text(style, unit)
}

func (p *devicesPane) details(s *scene) (string, []string) {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) {
		return "", nil
	}
	d := p.rows.rows[p.table.Selected]
	lines := []string{"source  " + d.view.ID, "status  " + d.view.Status.String() + " " + d.view.StatusWhy}
	if d.view.Trouble != "" {
		lines = append(lines, "trouble  "+d.view.Trouble)
	}
	if d.set == nil {
		return d.name, lines
	}
	for c := range recorder.NumCounters {
		counter := recorder.Counter(c)
		if f := d.view.Figure(d.set, counter); f.Known {
			lines = append(lines, counterName(counter)+"  "+string(grid.AppendCount(nil, f.Value))+"  from "+f.Origin)
		} else if why := d.set.Why[counter.String()]; why != "" {
			lines = append(lines, counterName(counter)+"  not known: "+why)
		}
	}
	return d.name, lines
}

func (p *devicesPane) origins(s *scene) (all []origin) {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) || p.rows.rows[p.table.Selected].set == nil {
		return nil
	}
	d := p.rows.rows[p.table.Selected]
	all = append(all, origin{name: counterName(recorder.Used), figure: d.view.DeviceUsed(d.set)})
	for _, c := range [...]recorder.Counter{recorder.Free, recorder.DriverReserved, recorder.Total} {
		all = append(all, origin{name: counterName(c), figure: d.view.Figure(d.set, c)})
	}
	for _, c := range [...]recorder.Counter{recorder.Utilization, recorder.Temperature, recorder.Power, recorder.Clock, recorder.PCIeReceive, recorder.PCIeTransmit} {
		all = append(all, origin{name: counterName(c), figure: d.view.Figure(d.set, c), count: true})
	}
	return all
}

func (p *devicesPane) selectedText(s *scene) string {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) {
		return ""
	}
	return p.rows.rows[p.table.Selected].name
}
