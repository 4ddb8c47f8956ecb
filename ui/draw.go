package ui

import (
	"vramscope/model"
	"vramscope/recorder"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
	"vramscope/ui/layout"
	"vramscope/ui/widget"
)

// drawFrame draws everything and returns it as the terminal takes it.
func (d *Dashboard) drawFrame() string {
	d.draw()
	return d.grid.Encode()
}

// draw draws everything into the grid.
func (d *Dashboard) draw() {
	d.grid.Resize(d.width, d.height)
	d.scene.blocks, d.scene.offered = d.view == layout.Pool, d.offer()
	d.arrange()
	all := d.grid.All()
	if r := d.layout.Header; !r.Empty() {
		d.drawHeader(all.At(r))
	}
	if r := d.layout.Tabs; !r.Empty() {
		used := widget.Tabs(all.At(r), layout.ViewNames(), int(d.view))
		d.drawFailures(all.At(r), used)
	}
	d.drawPanes(all)
	d.drawBottom(all)
	body := all.At(d.layout.Body)
	switch {
	case d.question != nil:
		d.question.draw(all)
	case d.popup != nil:
		d.popup.draw(body)
	}
}

// arrange says where every pane goes.
func (d *Dashboard) arrange() {
	options := layout.Options{Input: d.entry != nil, Message: d.messageHeight()}
	if d.scene.view != nil {
		options.Arenas = liveArenas(d.scene.view)
		options.Content, options.Pools = contentOf(d.scene.view), poolContentOf(d.scene.view)
		if options.Content != layout.Arenas || options.Pools != layout.Blocks {
			options.Allocators = d.allocatorRows()
		}
	}
	if d.zoomed {
		options.Zoomed = d.focusedName()
	}
	d.layout = layout.Compute(d.width, d.height, d.view, options)
}

// drawFailures counts the failed allocations of the source at the right end of
// the tabs, where they are seen in every view.
func (d *Dashboard) drawFailures(r grid.Region, used int) {
	failures := d.failures()
	if failures == 0 {
		return
	}
	const width = 22
	if r.Width()-used < width+1 {
		return
	}
	style := grid.Of(themes.Error)
	p := r.Pen(r.Width()-width, 0)
	p.Rune(style, r.Glyphs().EventOOM)
	p.Count(style, int64(failures), 5)
	p.Text(style, " out of memory")
}

// failures is how many allocations of the source have failed, as far as is known.
func (d *Dashboard) failures() int {
	if d.scene.view == nil {
		return 0
	}
	if _, device := d.scene.dumpOf(); device != nil {
		return len(device.OOMEvents)
	}
	return len(d.scene.view.OOMs)
}

// liveArenas is how many arenas have a buffer.
func liveArenas(view *model.SourceView) (n int) {
	for _, arena := range view.Arenas {
		if arena.State.Released == 0 {
			n++
		}
	}
	return n
}

// contentOf is what there is to be seen inside a process. What it has told
// once keeps its panes: an arena that is gone has its scopes.
func contentOf(view *model.SourceView) layout.Content {
	if view.Kind != recorder.KindProcess || isDump(view) {
		return layout.Arenas
	}
	pools := 0
	for i := range view.Sets {
		if view.Sets[i].Of == recorder.OfPool {
			pools++
		}
	}
	arenas := len(view.Arenas) + len(view.Gone)
	switch {
	case arenas > 0 && pools > 1:
		return layout.Everything
	case arenas > 0 || pools == 0:
		return layout.Arenas
	case len(view.Pools) > 0:
		return layout.AllocatorsAndPool
	}
	return layout.Allocators
}

// poolContentOf is what the pools of a process tell. A process without any is
// shown as one that tells blocks, whose panes say what would fill them.
func poolContentOf(view *model.SourceView) layout.PoolContent {
	if view.Kind != recorder.KindProcess || isDump(view) || view.Past && len(view.Pools) == 0 && poolSet(view, nil) == nil {
		return layout.Blocks
	}
	for _, pool := range view.Pools {
		if !tellsNoBlocks(view, pool) {
			return layout.Blocks
		}
	}
	switch {
	case len(view.Pools) > 0:
		return layout.Tiers
	case poolSet(view, nil) != nil:
		return layout.Counters
	}
	return layout.Blocks
}

// allocatorRows is how many rows the table of allocators has.
func (d *Dashboard) allocatorRows() int {
	p := d.panes[layout.AllocatorsPane].(*allocatorsPane)
	p.collect(&d.scene)
	return p.rows.Len()
}

// drawPanes draws the frames first, the focused one last, then what stands in
// them: frames share their sides.
func (d *Dashboard) drawPanes(all grid.Region) {
	focused := d.focusedName()
	places := d.layout.Places()
	for _, place := range places {
		if place.Framed && place.Pane != focused {
			widget.Frame(all.At(place.Frame), widget.FrameStyle(false))
		}
	}
	for _, place := range places {
		if place.Framed && place.Pane == focused {
			widget.Frame(all.At(place.Frame), widget.FrameStyle(true))
		}
	}
	for _, place := range places {
		p := d.paneOf(place.Pane)
		if p == nil {
			continue
		}
		if f, ok := p.(framed); ok && place.Framed {
			f.drawFramed(all.At(place.Frame), &d.scene, place.Pane == focused)
		} else {
			p.draw(all.At(place.Inner), &d.scene, place.Pane == focused)
		}
		if place.Framed {
			title, note := p.title(&d.scene)
			frame := all.At(place.Frame)
			if b, ok := p.(beside); ok && b.titleRoom() > 0 {
				frame = frame.Sub(0, 0, min(b.titleRoom()+titleEdges, frame.Width()), 1)
			}
			widget.Title(frame, title, note, place.Pane == focused)
		}
	}
}

// titleEdges are the corner and a blank on each side of a pane's title, and what
// comes after it.
const titleEdges = 4

// drawBottom draws the lines under the panes: the message, what is typed, and
// the hints.
func (d *Dashboard) drawBottom(all grid.Region) {
	if r := d.layout.Message; !r.Empty() {
		d.drawMessage(all.At(r))
	}
	if r := d.layout.Input; !r.Empty() && d.entry != nil {
		d.entry.draw(all.At(r))
	}
	r := d.layout.Footer
	switch {
	case r.Empty():
	case d.message.text != "" && d.layout.Message.Empty():
		d.drawMessage(all.At(r))
	default:
		widget.HintBar(all.At(r), d.hints())
	}
}

// messageHeight is the rows that the message needs to be whole.
func (d *Dashboard) messageHeight() int {
	if d.message.text == "" {
		return 0
	}
	return widget.StatusHeight(d.message.text, d.width) + len(d.message.lines)
}

func (d *Dashboard) drawMessage(r grid.Region) {
	note := ""
	if d.message.wall > 0 {
		note = clockTime(d.message.wall)
	}
	if len(d.message.lines) > 0 {
		d.message.drawLines(r.Sub(0, 1, r.Width(), r.Height()-1))
		r = r.Row(0)
	}
	widget.Status(r, d.message.kind, d.message.text, note)
}

// hints are the keys of whoever has them.
func (d *Dashboard) hints() []keymap.Hint {
	context := d.context()
	if d.hintsMade[context] == nil {
		d.hintsMade[context] = keymap.Hints(context, d.options.ReadOnly)
		d.dumpHints[context] = hintsOnDump(d.hintsMade[context], context)
		d.costHints[context] = hintsOnCosts(d.hintsMade[context], context)
	}
	if context == keymap.Sort {
		return d.sortHints(d.hintsMade[context])
	}
	if isDump(d.scene.view) {
		return d.dumpHints[context]
	}
	if isCosts(d.scene.view) {
		return d.costHints[context]
	}
	return d.trueHints(d.hintsMade[context], context)
}

// drawHeader says what is watched, how it is doing, and what watching costs.
func (d *Dashboard) drawHeader(r grid.Region) {
	r.Clear(grid.Of(themes.Header))
	end := d.drawSelf(r)
	room := r.Sub(0, 0, end, 1)
	p := room.Pen(1, 0)
	style := grid.Of(themes.Header)
	defer func() {
		if p.Left() == 0 { // something was cut, unless it ended just here
			room.Set(end-1, 0, r.Glyphs().Ellipsis, grid.Of(themes.Dim))
		}
	}()
	p.Text(style.With(themes.Bold), "vramscope")
	view := d.scene.view
	if view == nil {
		p.Text(style, "  nothing is watched")
		return
	}
	separate := func() {
		p.Rune(style, ' ')
		p.Rune(grid.Of(themes.Dim), r.Glyphs().Separator)
		p.Rune(style, ' ')
	}
	p.Rune(style, ' ')
	p.Rune(grid.Of(themes.Dim), r.Glyphs().NodeClosed)
	p.Rune(style, ' ')
	p.Text(style.With(themes.Bold), headName(view))
	if view.Hello != nil && view.Hello.PID > 0 {
		p.Rune(style, ' ')
		p.Text(style, pidText(view.Hello.PID))
	}
	if isRecording(view) && d.scene.files.several() {
		separate()
		p.Text(style, d.scene.files.name(view))
	}
	if job := d.jobOf(view); job != "" {
		separate()
		p.Text(style.With(themes.Bold), job)
	}
	separate()
	d.drawStatus(&p, r, view)
	if path := d.feed.Recording(); path != "" {
		separate()
		p.Rune(grid.Of(themes.Error), r.Glyphs().SourceLive)
		p.Text(style, " REC")
	}
	if d.wide {
		separate()
		p.Text(grid.Of(themes.Warning), "all of the device")
	}
	if d.options.ReadOnly {
		separate()
		p.Text(grid.Of(themes.Warning), "read-only")
	}
	d.drawDumpHeader(&p, separate)
	d.drawCostHeader(&p, separate)
	if pool := d.choices.poolOf(view); pool != nil {
		separate()
		p.Text(style, "tier ")
		p.Text(style.With(themes.Bold), pool.State.Tier)
		p.Text(style, " gen ")
		p.Count(style, int64(pool.State.Generation), 0)
	}
	if view.Frame >= 0 {
		separate()
		p.Text(style, "frame ")
		p.Count(style, view.Frame, 0)
	}
	if view.Hello != nil && len(view.Hello.GPUs) > 0 {
		separate()
		gpu, several := gpuOf(view.Hello, d.scene.device)
		p.Text(style, gpu.Name)
		if several {
			p.Text(style, " #")
			p.Count(style, int64(gpu.Ordinal), 0)
		}
	}
}

// gpuOf is a device as a process calls it, or its first one, and whether the
// process knows several of that name.
func gpuOf(hello *recorder.Hello, device string) (gpu *recorder.GPU, several bool) {
	if gpu, several = model.GPUOf(hello.GPUs, device, ""); gpu == nil {
		gpu, several = model.GPUOf(hello.GPUs, hello.GPUs[0].UUID, "")
	}
	return gpu, several
}

// jobOf is the source's place in its job, made once for what it said of itself.
func (d *Dashboard) jobOf(view *model.SourceView) string {
	if d.job.hello != view.Hello {
		d.job.hello, d.job.text = view.Hello, jobText(view)
	}
	return d.job.text
}

// drawStatus says how the source is doing and which moment is shown.
func (d *Dashboard) drawStatus(p *grid.Pen, r grid.Region, view *model.SourceView) {
	state, style := sourceState(view, d.paused), grid.Of(themes.Header)
	mark, markStyle := widget.SourceMark(r.Glyphs(), state)
	p.Rune(markStyle, mark)
	p.Rune(style, ' ')
	switch {
	case view.Past:
		p.Text(grid.Of(themes.Warning), "then: ")
		p.Duration(grid.Of(themes.Warning), d.scene.newest.Now-view.Now, 0)
		p.Text(grid.Of(themes.Warning), " before the end")
	case d.paused:
		p.Text(grid.Of(themes.Warning), "paused")
	default:
		p.Text(style, view.Status.String())
		if view.Status == model.StatusLive && view.Hello != nil && view.Hello.Hz > 0 {
			p.Rune(style, ' ')
			p.Hertz(style, int64(view.Hello.Hz*1000), 0)
		}
		if view.Status == model.StatusLoading && view.Size > 0 {
			p.Rune(style, ' ')
			drawProgress(p, style, view)
		}
	}
}

func sourceState(view *model.SourceView, paused bool) widget.SourceState {
	switch view.Status {
	case model.StatusStale, model.StatusConnecting:
		return widget.SourceStale
	case model.StatusEnded, model.StatusComplete:
		return widget.SourceEnded
	case model.StatusFailed:
		return widget.SourceRefused
	case model.StatusLost, model.StatusCut:
		return widget.SourceLost
	}
	if paused || view.Past {
		return widget.SourcePaused
	}
	return widget.SourceLive
}

// selfWidth is the columns that this program's own cost takes.
const selfWidth = 34

// drawSelf writes what this program itself takes at the right end, where there
// is room, and returns the column at which it begins.
func (d *Dashboard) drawSelf(r grid.Region) int {
	self := d.scene.snapshot.Self
	if r.Width() < 100 || self.Resident == 0 {
		return r.Width()
	}
	start := r.Width() - selfWidth
	if self.DeviceBytes < 0 {
		start += len(" · 0.0 MiB VRAM") - 1
	}
	p := r.Pen(start, 0)
	dim := grid.Of(themes.Dim)
	p.Text(dim, "self ")
	if self.CPUPercent < 0 {
		p.Rune(dim, r.Glyphs().Unknown)
	} else {
		p.Percent(dim, int64(self.CPUPercent*100), 100*100, 0)
	}
	p.Rune(dim, ' ')
	p.Bytes(dim, self.Resident, 0)
	if self.DeviceBytes >= 0 {
		p.Text(dim, " ")
		p.Rune(dim, r.Glyphs().Separator)
		p.Rune(dim, ' ')
		p.Bytes(dim, self.DeviceBytes, 0)
		p.Text(dim, " VRAM")
	}
	return start - 1
}
