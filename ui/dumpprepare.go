package ui

import tea "charm.land/bubbletea/v2"

// preparer is a pane on a memory dump that has things worked out before it is
// drawn.
type preparer interface {
	prepare(s *scene)
	// forget lets go of the dump: another source is looked at.
	forget()
}

// prepare lets the panes that are to be drawn ask for what they show, and forget
// a dump that is not looked at any more.
func (d *Dashboard) prepare() tea.Cmd {
	source := ""
	if d.scene.view != nil && d.scene.view.Dump != nil {
		source = d.scene.view.ID
	}
	if d.dumps.source != source {
		d.dumps.forget(source)
		for _, pane := range d.dumpPanes {
			if p, ok := pane.(preparer); ok {
				p.forget()
			}
		}
	}
	if source == "" {
		return nil
	}
	d.arrange()
	for _, place := range d.layout.Places() {
		if p, ok := d.paneOf(place.Pane).(preparer); ok {
			p.prepare(&d.scene)
		}
	}
	return d.dumps.queue.take()
}

// settle waits until everything that is shown has been worked out: for pictures
// without an update loop.
func (d *Dashboard) settle() {
	for command := d.prepare(); command != nil; command = d.prepare() {
		runCommand(command)
	}
}

// runCommand carries out a command and takes over the answers that it brings.
func runCommand(command tea.Cmd) {
	switch msg := command().(type) {
	case reckonedMsg:
		msg()
	case tea.BatchMsg:
		for _, one := range msg {
			runCommand(one)
		}
	}
}
