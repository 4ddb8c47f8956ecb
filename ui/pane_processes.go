package ui

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// processesPane is a table of the programs that hold device memory: those that
// let us in, and those that only the driver tells of.
type processesPane struct {
	table   widget.Table
	rows    processRows
	all     []processRow
	seen    *model.Snapshot
	pattern filterPattern
	sort    int // column
	up      bool
}

// processRow is one process.
type processRow struct {
	pid         int
	name        string
	job         string // with the place in it
	device      string
	driver      model.Figure // by the driver
	held        model.Figure // by the allocators that told
	unaccounted model.Figure
	resident    model.Figure // host memory
	view        *model.SourceView
	gpuSet      *recorder.CounterSet
}

type processRows struct{ rows []processRow }

// The columns of the table of processes.
const (
	processPID = iota
	processName
	processDriver
	processHeld
	processUnaccounted
	processResident
	processDevice
	processJob
	processReach
)

// When the columns of devices and jobs are left out: sooner than most, unless they
// are needed to tell the rows of one process, or the ranks of a job, apart.
const dropDevice, dropJob, dropNeeded = 5, 6, 1

// What the column of names has at least and by itself, and what a column of text is
// given before other columns are.
const narrowestProcess, processWidth, widestProcess = 7, 10, 28

func newProcessesPane() *processesPane {
	p := &processesPane{sort: processDriver}
	p.table = widget.Table{SortColumn: processDriver, Descending: true, Rows: &p.rows, Columns: []widget.TableColumn{
		processPID:         {Title: "pid", Width: 7, Align: grid.Right},
		processName:        {Title: "process", Width: processWidth, Grow: 3},
		processDriver:      {Title: "by driver", Width: 11, Align: grid.Right},
		processHeld:        {Title: "allocators", Width: 10, Align: grid.Right, Drop: 1},
		processUnaccounted: {Title: "unaccounted", Width: 11, Align: grid.Right, Drop: 3},
		processResident:    {Title: "host", Width: 10, Align: grid.Right, Drop: 4},
		processDevice:      {Title: "device", Width: 8, Grow: 1, Drop: dropDevice},
		processJob:         {Title: "job", Width: 12, Grow: 1, Drop: dropJob},
		processReach:       {Title: "reach", Width: 14, Grow: 1, Drop: 2},
	}}
	return p
}

func (p *processesPane) title(s *scene) (string, string) {
	p.collect(s)
	if text := p.pattern.text; text != "" {
		return "Processes", "filter " + text
	}
	return "Processes", ""
}

func (*processesPane) keys() keymap.Context { return keymap.List }

// collect finds the processes of a snapshot, once.
func (p *processesPane) collect(s *scene) {
	if p.seen == s.snapshot {
		return
	}
	p.seen = s.snapshot
	p.all = p.all[:0]
	listed := map[*model.SourceView]bool{}
	for _, view := range s.snapshot.Sources {
		if view.Kind == recorder.KindDevice {
			p.addDevice(s.snapshot, view, listed)
		}
	}
	for _, view := range s.snapshot.Sources {
		if view.Kind == recorder.KindProcess && !listed[view] {
			p.addOwn(s.snapshot, view)
		}
	}
	p.arrange()
}

// addDevice adds a row for each process of a device. One that lets us in stands
// there once, whatever number the driver and it itself call it by.
func (p *processesPane) addDevice(snapshot *model.Snapshot, gpu *model.SourceView, listed map[*model.SourceView]bool) {
	known := map[*recorder.CounterSet]*model.SourceView{}
	for _, view := range snapshot.Beside(gpu) {
		if view.Kind != recorder.KindProcess {
			continue
		}
		set := gpu.ProcessSet(view)
		if set == nil {
			continue
		}
		if other := known[set]; other == nil || isOver(other) { // of two runs under one number it is the one that lives
			known[set] = view
		}
		listed[view] = true
	}
	for i := range gpu.Sets {
		if set := &gpu.Sets[i]; set.Of == recorder.OfProcess {
			p.all = append(p.all, driverRow(snapshot, gpu, set, known[set]))
		}
	}
}

// addOwn adds a process that no device's source tells of: a row for each GPU on
// which it has allocators, as the driver would list it, and one row where it has
// them on one or on none.
func (p *processesPane) addOwn(snapshot *model.Snapshot, view *model.SourceView) {
	gpus := view.Devices(snapshot.Beside(view))
	gpus = slices.DeleteFunc(gpus, func(device string) bool { return device == model.HostDevice })
	if len(gpus) < 2 {
		gpus = []string{""}
	}
	for _, device := range gpus {
		p.all = append(p.all, ownRow(snapshot, view, device))
	}
}

// isOver says whether a source has ended: its number may be another's by now.
func isOver(view *model.SourceView) bool {
	return view.Goodbye != nil || view.Status == model.StatusEnded || view.Status == model.StatusFailed || view.Status == model.StatusLost
}

// driverRow is a process that the driver tells of; where it lets us in, its
// own figures stand beside the driver's.
func driverRow(snapshot *model.Snapshot, gpu *model.SourceView, set *recorder.CounterSet, view *model.SourceView) processRow {
	row := processRow{name: set.Name, device: gpu.Name, driver: gpu.Figure(set, recorder.Used), gpuSet: set}
	row.pid, _ = strconv.Atoi(strings.TrimPrefix(set.ID, "process:"))
	if view != nil {
		own := ownRow(snapshot, view, gpu.FirstDevice())
		row.name, row.job = own.name, own.job
		row.held, row.unaccounted, row.resident, row.view = own.held, own.unaccounted, own.resident, view
	}
	return row
}

// ownRow is a process on a device, "" for its first, as it tells itself.
func ownRow(snapshot *model.Snapshot, view *model.SourceView, device string) processRow {
	if device == "" {
		device = view.FirstDevice()
	}
	accounts := model.AccountsOf(view, snapshot.Beside(view), device)
	row := processRow{
		name: view.Name, device: accounts.Name, driver: accounts.Driver, held: accounts.Held, unaccounted: accounts.Rest,
		resident: model.HostMemoryOf(view, nil).Resident, view: view,
	}
	if device == model.HostDevice && !accounts.Driver.Known {
		row.device = device // the whole name is longer than the column
	}
	if view.Hello != nil {
		row.pid, row.job = view.Hello.PID, jobText(view)
	}
	return row
}

// arrange filters and sorts the rows.
func (p *processesPane) arrange() {
	p.rows.rows = p.rows.rows[:0]
	for _, row := range p.all {
		if p.pattern.matches(row.name) || p.pattern.matches(strconv.Itoa(row.pid)) {
			p.rows.rows = append(p.rows.rows, row)
		}
	}
	p.fitColumns()
	slices.SortStableFunc(p.rows.rows, func(a, b processRow) int {
		order := 0
		switch p.sort {
		case processPID:
			order = cmp.Compare(a.pid, b.pid)
		case processName:
			order = cmp.Or(strings.Compare(a.name, b.name), compareRanks(a.view, b.view))
		case processJob:
			order = compareRanks(a.view, b.view)
		case processHeld:
			order = cmp.Compare(value(a.held), value(b.held))
		case processResident:
			order = cmp.Compare(value(a.resident), value(b.resident))
		default:
			order = cmp.Compare(value(a.driver.Or(a.held)), value(b.driver.Or(b.held)))
		}
		if p.table.Descending {
			order = -order
		}
		return cmp.Or(compareEnded(a.view, b.view), order)
	})
	p.table.SortColumn = p.sort
	if p.sort == processDriver && p.table.Columns[processDriver].Empty {
		p.table.SortColumn = processHeld // which the rows are sorted by then
	}
	p.table.Selected = min(p.table.Selected, max(len(p.rows.rows)-1, 0))
}

// fitColumns finds what the columns hold in the rows: how wide it is, which hold
// nothing, and which tell rows apart.
func (p *processesPane) fitColumns() {
	columns := p.table.Columns
	name, device, job := 0, 0, 0
	driver, held, rest, resident := false, false, false, false
	for i := range p.rows.rows {
		row := &p.rows.rows[i]
		driver, held = driver || row.driver.Known, held || row.held.Known
		rest, resident = rest || row.unaccounted.Known, resident || row.resident.Known
		name, device, job = max(name, grid.Width(row.name)), max(device, grid.Width(row.device)), max(job, grid.Width(row.job))
	}
	columns[processDriver].Empty, columns[processHeld].Empty = !driver, !held
	columns[processUnaccounted].Empty, columns[processResident].Empty = !rest, !resident
	columns[processDevice].Empty, columns[processJob].Empty = device == 0, job == 0
	columns[processName].Content, columns[processDevice].Content, columns[processJob].Content =
		min(name, widestProcess), min(device, widestProcess), min(job, widestProcess)
	columns[processDevice].Drop, columns[processJob].Drop, columns[processName].Width = dropDevice, dropJob, processWidth
	if p.onSeveral() {
		columns[processDevice].Drop = dropNeeded
	}
	if p.severalRanks() {
		columns[processDevice].Drop, columns[processJob].Drop = dropNeeded, dropNeeded
		columns[processName].Width = min(max(name, narrowestProcess), processWidth)
	}
}

// severalRanks says whether two rows have one name and are of different ranks.
func (p *processesPane) severalRanks() bool {
	for i := range p.rows.rows {
		for k := range i {
			if a, b := &p.rows.rows[i], &p.rows.rows[k]; a.name == b.name && compareRanks(a.view, b.view) != 0 {
				return true
			}
		}
	}
	return false
}

// onSeveral says whether a process has rows on several devices, which the column
// of devices tells apart.
func (p *processesPane) onSeveral() bool {
	for i := range p.all {
		for k := range i {
			if p.all[i].view != nil && p.all[i].view == p.all[k].view || p.all[i].pid == p.all[k].pid && p.all[i].device != p.all[k].device {
				return true
			}
		}
	}
	return false
}

func (p *processesPane) draw(r grid.Region, s *scene, _ bool) {
	p.collect(s)
	if len(p.rows.rows) == 0 {
		text := "No process is known here. One with a probe, or one that the driver tells of, fills this: `vramscope run -- python render.py`."
		if p.pattern.text != "" {
			text = "No process matches the filter. Esc clears it."
		}
		nothing(r, text)
		return
	}
	p.table.Offset = widget.ScrollTo(p.table.Offset, p.table.Selected, r.Height()-1, len(p.rows.rows))
	p.table.Draw(r)
}

func (p *processesPane) do(action keymap.Action, s *scene) bool {
	p.collect(s)
	switch action {
	case keymap.SortByName:
		p.sortBy(processName)
	case keymap.SortBySize, keymap.SortByTotal, keymap.SortByPeak:
		p.sortBy(processDriver)
	case keymap.SortByLive:
		p.sortBy(processHeld)
	case keymap.SortBySelf:
		p.sortBy(processResident)
	case keymap.SortByCount, keymap.SortByAge:
		p.sortBy(processPID)
	case keymap.ReverseSort:
		p.table.Descending = !p.table.Descending
		p.arrange()
	default:
		return moveIn(&p.table, action, len(p.rows.rows))
	}
	return true
}

func (p *processesPane) sortBy(column int) {
	p.sort, p.table.Descending = column, column != processName && column != processPID && column != processJob
	p.arrange()
}

func (p *processesPane) click(x, y, _, _ int, s *scene) {
	p.collect(s)
	if y == 0 {
		if column := p.table.ColumnAt(x); column >= 0 {
			if column == p.table.SortColumn {
				p.table.Descending = !p.table.Descending
				p.arrange()
			} else {
				p.sortBy(column)
			}
		}
		return
	}
	if row := p.table.Offset + y - 1; row < len(p.rows.rows) {
		p.table.Selected = row
	}
}

func (p *processesPane) filter() string { return p.pattern.text }

func (p *processesPane) setFilter(text string) error {
	err := p.pattern.set(text)
	p.arrange()
	return err
}

func (rows *processRows) Len() int { return len(rows.rows) }

func (rows *processRows) DrawCell(r grid.Region, index, column int) {
	row := &rows.rows[index]
	text, dim := grid.Of(themes.Text), grid.Of(themes.Dim)
	pen := r.Pen(0, 0)
	width := r.Width()
	switch column {
	case processPID:
		pen.Fit(text, strconv.Itoa(row.pid), width, grid.Right)
	case processName:
		r.FitMiddle(0, 0, width, text, row.name)
	case processDriver:
		pen.Bytes(grid.Of(themes.Used), value(row.driver), width)
	case processHeld:
		pen.Bytes(grid.Of(themes.Reserved), value(row.held), width)
	case processUnaccounted:
		drawFigure(r, grid.Of(themes.Unaccounted), row.unaccounted)
	case processResident:
		pen.Bytes(dim, value(row.resident), width)
	case processDevice:
		r.FitMiddle(0, 0, width, dim, row.device)
	case processJob:
		if _, rank := placeInJob(row.view); rank >= 0 {
			r.Fit(0, 0, width, dim, row.job, grid.Left) // the rank comes first
			return
		}
		r.FitMiddle(0, 0, width, dim, row.job)
	case processReach:
		if row.view == nil {
			mark, style := widget.SourceMark(r.Glyphs(), widget.SourceRefused)
			pen.Rune(style, mark)
			pen.Text(dim, " no probe")
			return
		}
		mark, style := widget.SourceMark(r.Glyphs(), sourceState(row.view, false))
		pen.Rune(style, mark)
		pen.Rune(dim, ' ')
		pen.Text(dim, row.view.Status.String())
	}
}

// origins are where the numbers of the selected process come from.
func (p *processesPane) origins(s *scene) []origin {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) {
		return nil
	}
	row := &p.rows.rows[p.table.Selected]
	return []origin{{name: "by the driver", figure: row.driver}, {name: "by its allocators", figure: row.held},
		{name: "unaccounted", figure: row.unaccounted}, {name: "host memory", figure: row.resident}}
}

func (p *processesPane) details(s *scene) (string, []string) {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) {
		return "", nil
	}
	row := &p.rows.rows[p.table.Selected]
	var lines []string
	for _, o := range p.origins(s) {
		line := originLine(o)
		lines = append(lines, line.label+"  "+line.text)
	}
	if row.view == nil {
		return row.name, append(lines, "No probe is in it, so nothing inside can be seen and no key can act on it. Start it with: vramscope run -- COMMAND")
	}
	if h := row.view.Hello; h != nil {
		lines = append(lines, "command line  "+strings.Join(h.Argv, " "), "allocators found  "+strings.Join(h.Have, ", "),
			"obeys  "+strings.Join(h.Commands, ", "))
		if row.job != "" {
			lines = append(lines, "job  "+row.job)
		}
		if len(h.NSPIDs) > 1 {
			lines = append(lines, "process numbers, outermost first  "+numbersText(h.NSPIDs))
		}
		for _, command := range slices.Sorted(maps.Keys(h.Refuses)) {
			lines = append(lines, "does not obey "+command+": "+h.Refuses[command])
		}
	}
	return row.name, lines
}

func (p *processesPane) selectedText(s *scene) string {
	p.collect(s)
	if p.table.Selected >= len(p.rows.rows) {
		return ""
	}
	return strconv.Itoa(p.rows.rows[p.table.Selected].pid)
}
