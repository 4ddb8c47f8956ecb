package recorder

// RecordWriter takes records one after another. A FileWriter is one.
type RecordWriter interface {
	// Write writes the record. It keeps no part of it.
	Write(Record) error
}

// WriteCalibration writes a calibration dump: a recording of every arena that
// the registry holds, oldest first, with its events, its scope tree and the
// transients outside the arenas. hello introduces it and may be nil; its source,
// kind and versions are set here. The error is the writer's.
//
// The arenas are copied at one moment, at a cost that does not grow with their
// events; writing them does not keep the process waiting.
func (s *Stream) WriteCalibration(to RecordWriter, hello *Hello) error {
	dump := s.calibration(hello)
	if err := to.Write(dump.hello); err != nil {
		return err
	}
	for _, record := range dump.strings {
		if err := to.Write(record); err != nil {
			return err
		}
	}
	for i := range dump.arenas {
		for batch := range dump.arenas[i].Log.Batches(dump.hello.Src, dump.arenas[i].State.ID) {
			if err := to.Write(batch); err != nil {
				return err
			}
		}
	}
	for _, part := range SplitState(dump.state()) {
		if err := to.Write(part); err != nil {
			return err
		}
	}
	for _, peak := range dump.peaks {
		if err := to.Write(&Peak{Head: dump.hello.Head, NonArena: peak}); err != nil {
			return err
		}
	}
	return to.Write(&Bye{Head: dump.hello.Head, Why: "calibration dump"})
}

// calibrationDump is what a dump holds, copied at one moment.
type calibrationDump struct {
	hello        *Hello
	strings      []*Strings
	arenas       []RecordedArena
	peaks        []NonArena
	armed        bool
	dropped      int
	droppedPeaks int
}

func (s *Stream) calibration(hello *Hello) *calibrationDump {
	dump := &calibrationDump{hello: &Hello{}, arenas: s.registry.Arenas(), peaks: s.registry.NonArenaPeaks()}
	if hello != nil {
		*dump.hello = *hello
	}
	head := s.Head()
	if dump.hello.Wall != 0 {
		dump.hello.Wall += head.Ns - dump.hello.Ns
	}
	dump.hello.Head, dump.hello.Kind = head, KindCalibration
	dump.hello.Proto, dump.hello.Min = Protocol, MinimumProtocol
	s.mu.Lock()
	defer s.mu.Unlock()
	// The strings come last, so that they hold every name of the arenas.
	s.names.All(dump.hello.Head, func(record *Strings) { dump.strings = append(dump.strings, record) })
	dump.armed, dump.dropped, dump.droppedPeaks = s.registry.armed, s.registry.dropped, s.registry.droppedPeaks
	return dump
}

// state is the arenas as one state.
func (d *calibrationDump) state() *State {
	state := &State{Head: d.hello.Head, Recording: d.armed, Dropped: d.dropped, DroppedPeaks: d.droppedPeaks}
	for i := range d.arenas {
		state.Arenas = append(state.Arenas, d.arenas[i].Whole())
	}
	return state
}
