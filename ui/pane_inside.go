package ui

import (
	"vramscope/model"
	"vramscope/themes"
	"vramscope/ui/grid"
	"vramscope/ui/keymap"
)

// insidePane is what a process's memory on the device consists of: its
// allocators, those inside them, and what no allocator admits to.
type insidePane struct{}

func (insidePane) title(s *scene) (string, string) {
	if s.view == nil {
		return "Inside", ""
	}
	return "Inside " + s.view.Name, ""
}

func (insidePane) keys() keymap.Context          { return keymap.List }
func (insidePane) do(keymap.Action, *scene) bool { return false }

func (insidePane) draw(r grid.Region, s *scene, _ bool) {
	if s.view == nil {
		nothing(r, "A program with a probe fills this.")
		return
	}
	if notSpoken(s.view) != "" {
		nothing(r, "Its allocators fill this once it answers.")
		return
	}
	inside := s.inside()
	resident := s.host().Resident
	if len(inside.Roots) == 0 && !inside.Driver.Known && !resident.Known {
		nothing(r, "No allocator has told anything: "+inside.Driver.Why)
		return
	}
	dim := grid.Of(themes.Dim)
	number := numbersFor(r)
	pen := r.Pen(0, 0)
	if inside.Device == model.HostDevice && !inside.Driver.Known {
		drawInsideHost(r, inside, number, resident)
		return
	}
	pen.Text(dim, "by driver ")
	number(&pen, grid.Of(themes.Used), value(inside.Driver), 0)
	pen.Text(dim, "  unaccounted ")
	if inside.Unaccounted.About {
		pen.Rune(grid.Of(themes.Unaccounted), about(r))
	}
	number(&pen, grid.Of(themes.Unaccounted), value(inside.Unaccounted), 0)
	if inside.Context.Known {
		pen.Text(dim, " (CUDA context ")
		number(&pen, grid.Of(themes.Unaccounted), value(inside.Context), 0)
		pen.Text(dim, ")")
	}
	if resident.Known && (r.Height() > 1 || len(inside.Roots) == 0) {
		pen.Text(dim, "  host memory ")
		number(&pen, grid.Of(themes.Text), value(resident), 0)
	}
	drawRoots(r, &pen, inside, number)
}

// drawInsideHost draws what a process has of the machine's own memory, which no
// driver counts.
func drawInsideHost(r grid.Region, inside *model.Inside, number writeBytes, resident model.Figure) {
	pen := r.Pen(0, 0)
	if resident.Known {
		pen.Text(grid.Of(themes.Dim), "resident ")
		number(&pen, grid.Of(themes.Used), value(resident), 0)
		pen.Text(grid.Of(themes.Dim), "  ")
	}
	if len(inside.Roots) == 0 {
		return
	}
	pen.Text(grid.Of(themes.Dim), "reserved ")
	number(&pen, grid.Of(themes.Reserved), value(inside.Held), 0)
	drawRoots(r, &pen, inside, number)
}

// drawRoots draws the allocators: one below another where there is room, else
// behind what stands in the first row.
func drawRoots(r grid.Region, pen *grid.Pen, inside *model.Inside, number writeBytes) {
	dim := grid.Of(themes.Dim)
	if r.Height() > 1 {
		for i := range inside.Roots {
			if i+1 >= r.Height() {
				break
			}
			row := r.Row(i+1).Pen(1, 0)
			drawAllocator(&row, number, &inside.Roots[i])
		}
	} else {
		for i := range inside.Roots {
			gap, digits := len(" + "), len(" 1023M")
			if i == 0 {
				gap = len("  ")
			}
			if r.Width() >= formulaWidth {
				digits = len(" 1023.9 MiB")
			}
			if left := len(inside.Roots) - i; !fitsAllocator(pen.Left()-gap, digits, left > 1, &inside.Roots[i]) {
				pen.Text(dim, " + ")
				pen.Count(dim, int64(left), 0)
				pen.Text(dim, " more")
				return
			}
			if i == 0 {
				pen.Text(dim, "  ")
			} else {
				pen.Text(dim, " + ")
			}
			drawAllocator(pen, number, &inside.Roots[i])
		}
	}
}

// fitsAllocator says whether an allocator fits into so many columns, with numbers of
// so many digits, before how many more there are.
func fitsAllocator(columns, digits int, more bool, a *model.Allocator) bool {
	width := grid.Width(allocatorName(a)) + digits + wasWidth(a)
	for i := range a.Inner {
		width += len(", ") + grid.Width(allocatorName(&a.Inner[i])) + digits + wasWidth(&a.Inner[i])
	}
	if len(a.Inner) > 0 {
		width += len("()")
	}
	if more {
		width += len(" + 9 more")
	}
	return width <= columns
}

// drawAllocator writes an allocator and, in brackets, those that lie in it.
func drawAllocator(pen *grid.Pen, number writeBytes, a *model.Allocator) {
	dim := grid.Of(themes.Dim)
	pen.Text(grid.Of(themes.Text), allocatorName(a))
	pen.Rune(dim, ' ')
	drawTaken(pen, number, grid.Of(themes.Reserved), a)
	if len(a.Inner) == 0 {
		return
	}
	pen.Text(dim, " (")
	for i := range a.Inner {
		if i > 0 {
			pen.Text(dim, ", ")
		}
		pen.Text(dim, allocatorName(&a.Inner[i]))
		pen.Rune(dim, ' ')
		drawTaken(pen, number, grid.Of(themes.Arena), &a.Inner[i])
	}
	pen.Text(dim, ")")
}

// drawTaken writes what an allocator has taken or, where it does not tell any more,
// what that was.
func drawTaken(pen *grid.Pen, number writeBytes, style grid.Style, a *model.Allocator) {
	if wasWidth(a) == 0 {
		number(pen, style, value(a.Reserved), 0)
		return
	}
	pen.Text(grid.Of(themes.Dim), "was ")
	number(pen, grid.Of(themes.Dim), a.Reserved.Last, 0)
}

// wasWidth is the columns of the word in front of a number that is not of now.
func wasWidth(a *model.Allocator) int {
	if a.Reserved.Known || a.Reserved.LastNs == 0 {
		return 0
	}
	return len("was ")
}

func allocatorName(a *model.Allocator) string {
	if a.Set.Name != "" {
		return a.Set.Name
	}
	return a.Set.ID
}

func (insidePane) origins(s *scene) (all []origin) {
	if s.view == nil {
		return nil
	}
	inside := s.inside()
	if inside.Device == model.HostDevice && !inside.Driver.Known {
		all = append(all, origin{name: "held by allocators", figure: inside.Held}, origin{name: "resident", figure: s.host().Resident})
	} else {
		all = append(all, origin{name: "by the driver", figure: inside.Driver}, origin{name: "held by allocators", figure: inside.Held},
			origin{name: "unaccounted", figure: inside.Unaccounted})
	}
	if inside.Context.Known {
		all = append(all, origin{name: "  CUDA context", figure: inside.Context})
	}
	if resident := s.host().Resident; inside.Device != model.HostDevice && resident.Known {
		all = append(all, origin{name: "host memory of the process", figure: resident})
	}
	for i := range inside.Roots {
		all = append(all, origin{name: allocatorName(&inside.Roots[i]), figure: inside.Roots[i].Reserved})
		for j := range inside.Roots[i].Inner {
			all = append(all, origin{name: "  " + allocatorName(&inside.Roots[i].Inner[j]), figure: inside.Roots[i].Inner[j].Reserved})
		}
	}
	return all
}
