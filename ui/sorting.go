package ui

import (
	"slices"

	"vramscope/ui/keymap"
	"vramscope/ui/widget"
)

// sorter is a pane whose rows can be sorted, or whose map can be coloured, by what
// the key after s names.
type sorter interface {
	// sortsBy is what it can be sorted by.
	sortsBy() []keymap.Action
}

// nothingToSort says why s has no effect in a pane.
const nothingToSort = "nothing to sort here: trees, tables and maps of blocks are sorted; Tab goes to the next pane"

// startSorting waits for the key that names the column. It does so where there is
// none too: what is pressed next was never meant as a key of its own.
func (d *Dashboard) startSorting() {
	d.sorting = true
	if len(d.sortActions()) == 0 {
		d.say(widget.StatusInfo, nothingToSort)
	}
}

// sort takes the key after s.
func (d *Dashboard) sort(action keymap.Action) {
	d.sorting = false
	p, columns := d.focusedPane(), d.sortActions()
	switch {
	case action == keymap.Cancel, p == nil:
	case len(columns) == 0:
		d.say(widget.StatusInfo, nothingToSort)
	case !slices.Contains(columns, action):
		d.say(widget.StatusInfo, "this pane has no such column: after s, the last line names those that it has")
	default:
		p.do(action, &d.scene)
	}
}

// sortActions is what the pane that has the keys can be sorted by.
func (d *Dashboard) sortActions() []keymap.Action {
	if p, ok := d.focusedPane().(sorter); ok {
		return p.sortsBy()
	}
	return nil
}

// sortHints are the hints after s, of the columns that there are.
func (d *Dashboard) sortHints(all []keymap.Hint) (hints []keymap.Hint) {
	columns := d.sortActions()
	for _, hint := range all {
		if binding := keymap.Find(hint.Action); binding == nil || binding.Group != keymap.Sorting || slices.Contains(columns, hint.Action) {
			hints = append(hints, hint)
		}
	}
	return hints
}

func (*processesPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortBySize, keymap.SortByTotal, keymap.SortByPeak, keymap.SortByLive,
		keymap.SortBySelf, keymap.SortByCount, keymap.SortByAge}
}

func (*scopesPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortByLive, keymap.SortBySelf, keymap.SortByTotal, keymap.SortBySize,
		keymap.SortByPeak, keymap.SortByCount, keymap.SortByAllocs, keymap.SortByAge}
}

func (*callersPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortBySize, keymap.SortBySelf, keymap.SortByTotal, keymap.SortByCount, keymap.SortByAllocs}
}

func (*blocksPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByAge, keymap.SortByLive, keymap.SortBySize, keymap.SortByTotal}
}

func (*segmentsPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortBySize, keymap.SortByLive, keymap.SortByTotal, keymap.SortBySelf,
		keymap.SortByPeak, keymap.SortByCount, keymap.SortByAge}
}

func (*costScopesPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortByPeak, keymap.SortByAllocs, keymap.SortByLive}
}

func (*dumpScopesPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortByLive, keymap.SortByPeak, keymap.SortByTotal, keymap.SortByAllocs,
		keymap.SortByUnfreed, keymap.SortByCount, keymap.SortBySize, keymap.SortBySelf}
}

func (*dumpBlocksPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByAge, keymap.SortByName, keymap.SortByAllocs, keymap.SortByLive, keymap.SortBySize, keymap.SortByTotal}
}

func (*dumpSegmentsPane) sortsBy() []keymap.Action {
	return []keymap.Action{keymap.SortByName, keymap.SortBySize, keymap.SortByLive, keymap.SortByTotal, keymap.SortBySelf,
		keymap.SortByUnfreed, keymap.SortByPeak, keymap.SortByCount, keymap.SortByAllocs, keymap.SortByAge}
}
