package nvml

import (
	"slices"
	"time"
)

// watched is one GPU with its MIG devices.
type watched struct {
	gpu    *gpu
	worker *worker   // nil while the GPU is lost
	state  State     // while worker is nil: how it was lost
	last   []Reading // as told
	next   [4]time.Time
}

// merge makes the listing the watched GPUs, and says whether other GPUs are
// asked than before. A GPU that answers keeps its worker, one that was lost or
// split anew gets another, and one that is no longer listed keeps its last
// numbers.
func (s *session) merge(l listing) (changed bool) {
	former := make(map[string]*watched, len(s.gpus))
	for _, g := range s.gpus {
		former[g.gpu.device.UUID] = g
	}
	var devices []Device
	gpus := make([]*watched, 0, len(l.gpus))
	for _, listed := range l.gpus {
		g := former[listed.device.UUID]
		delete(former, listed.device.UUID)
		if g == nil {
			g = &watched{}
		}
		if g.worker == nil || !g.gpu.sameAs(listed) {
			s.replace(g, listed)
			changed = true
		}
		gpus = append(gpus, g)
		devices = append(devices, g.gpu.devices()...)
	}
	missing := 0
	for _, g := range s.gpus {
		if former[g.gpu.device.UUID] != g {
			continue
		}
		if g.worker != nil {
			s.drop(g, gone)
			changed = true
		}
		if g.state.Condition != Lost {
			g.state = gone
		}
		s.tellState(g, g.state)
		missing++
		gpus = append(gpus, g)
		for _, d := range g.gpu.devices() {
			d.State = g.state
			devices = append(devices, d)
		}
	}
	s.relist = s.relist || missing > 0
	for _, d := range l.unreachable {
		if missing > 0 && d.State.Condition == Lost {
			missing-- // a nameless lost GPU is the known one that is missing
			continue
		}
		devices = append(devices, d)
	}
	s.gpus = gpus
	if !slices.Equal(devices, s.devices) {
		s.devices = devices
		s.receiver.Devices(slices.Clone(devices))
	}
	return changed
}

// replace gives a GPU a new worker.
func (s *session) replace(g *watched, fresh *gpu) {
	if g.worker != nil {
		s.drop(g, starting)
	}
	fresh.resume(g.last)
	g.gpu = fresh
	g.worker = startWorker(fresh, s.abandoned[fresh.device.UUID], s.w.clock, s.results, s.done)
	g.next = [4]time.Time{}
}

// drop stops asking a GPU.
func (s *session) drop(g *watched, state State) {
	close(g.worker.requests)
	s.abandoned[g.gpu.device.UUID] = g.worker.finished
	g.worker = nil
	g.state = state
}

// afterRead takes a GPU's answer.
func (s *session) afterRead(r result) {
	i := slices.IndexFunc(s.gpus, func(g *watched) bool { return g.worker == r.worker })
	if i < 0 {
		return // a call from before the GPU or the driver was lost
	}
	g := s.gpus[i]
	g.worker.busy, g.worker.late = false, false
	if r.answer.driver != codeSuccess {
		s.lose(r.answer.driver)
		return
	}
	if r.answer.relist && !s.relist {
		s.relist = true
		s.nextList = s.w.clock.now().Add(relistEvery)
	}
	state := r.answer.readings[0].State
	if state == asleep && len(g.last) > 0 && g.last[0].State == asleep {
		return // still asleep: nothing to tell
	}
	g.last = r.answer.readings
	if state.Condition == Lost {
		s.drop(g, state)
		s.watchFaults() // without the lost one, of which the driver would answer at once and for ever
	}
	for _, reading := range g.last {
		s.receiver.Reading(reading)
	}
}

// tellState tells a changed state with the numbers as they were.
func (s *session) tellState(g *watched, state State) {
	if len(g.last) == 0 {
		for _, d := range g.gpu.devices() {
			g.last = append(g.last, Reading{UUID: d.UUID, Parent: d.Parent})
		}
	}
	if g.last[0].State == state {
		return
	}
	g.last = slices.Clone(g.last)
	for i := range g.last {
		g.last[i].State = state
		s.receiver.Reading(g.last[i])
	}
}
