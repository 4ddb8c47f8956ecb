package nvml

import "time"

// activity is a goroutine that is, or will be, inside the driver. since and
// late belong to the session.
type activity struct {
	since    time.Time
	late     bool
	finished chan struct{}
}

// worker asks one GPU in its own goroutine, one request at a time, so that a
// call that hangs holds up nobody else.
type worker struct {
	activity
	gpu      *gpu
	requests chan want
	busy     bool // a request is under way; the session's
}

// result is what came of a request.
type result struct {
	worker *worker
	answer answer
}

// startWorker begins a goroutine that ends when requests closes, or after the
// call under way when done closes. It makes no call before former closes: that
// is the GPU's former worker, which may hang; nil for none.
func startWorker(g *gpu, former <-chan struct{}, clock clock, results chan<- result, done <-chan struct{}) *worker {
	w := &worker{gpu: g, requests: make(chan want, 1), activity: activity{finished: make(chan struct{})}}
	go func() {
		defer close(w.finished)
		if former != nil {
			select {
			case <-former:
			case <-done:
				return
			}
		}
		for wanted := range w.requests {
			r := result{w, g.read(wanted, clock.now())}
			select {
			case results <- r:
			case <-done:
				return
			}
		}
	}()
	return w
}

// request hands the worker, which must not be busy, its next task.
func (w *worker) request(wanted want, now time.Time) {
	w.busy, w.since = true, now
	w.requests <- wanted
}

// overdue says, once per call, that the call under way takes too long.
func (a *activity) overdue(now time.Time) bool {
	if a.late || now.Sub(a.since) <= lateAfter {
		return false
	}
	a.late = true
	return true
}
