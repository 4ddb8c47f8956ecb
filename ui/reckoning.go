package ui

import (
	"runtime"

	tea "charm.land/bubbletea/v2"
)

// reckoning is an answer that may take longer to work out than a key may. Then
// it is worked out off the update loop, one question at a time, and the newest
// question is the next: who holds a key down waits for one answer, not for all.
type reckoning[Q comparable, A any] struct {
	question Q // that the answer is to
	answer   A
	known    bool
	busy     bool
	sequence uint64 // of what was forgotten: answers that come after that are too late
}

// to is the answer to a question; false while it is not known.
func (r *reckoning[Q, A]) to(question Q) (answer A, ok bool) {
	if r.known && r.question == question {
		return r.answer, true
	}
	return answer, false
}

// lacks says that a question has to be asked: the answer is another one's, and
// none is being worked out.
func (r *reckoning[Q, A]) lacks(question Q) bool {
	return !r.busy && !(r.known && r.question == question)
}

// ask works out the answer to a question: at once, or where that would take too
// long by a command that the queue hands over. work must touch nothing that
// changes.
func (r *reckoning[Q, A]) ask(question Q, queue *workQueue, heavy bool, work func() A) {
	if !heavy {
		r.question, r.answer, r.known = question, work(), true
		return
	}
	r.busy = true
	sequence, turns := r.sequence, queue.turns()
	queue.commands = append(queue.commands, func() tea.Msg {
		turns <- struct{}{}
		answer := work()
		<-turns
		return reckonedMsg(func() {
			if r.sequence == sequence {
				r.question, r.answer, r.known, r.busy = question, answer, true, false
			}
		})
	})
}

// forget lets go of the answer, and of one that is still to come.
func (r *reckoning[Q, A]) forget() {
	*r = reckoning[Q, A]{sequence: r.sequence + 1}
}

// reckonedMsg brings an answer into the update loop: calling it takes it over.
type reckonedMsg func()

// workQueue is commands that panes have started and that Bubble Tea does not
// have yet.
type workQueue struct {
	commands []tea.Cmd
	working  chan struct{} // has room for as many as may work at a time
}

// turns has room for the commands that may work at the same time: one processor
// is left to the update loop, which must never wait for its turn.
func (q *workQueue) turns() chan struct{} {
	if q.working == nil {
		q.working = make(chan struct{}, max(runtime.GOMAXPROCS(0)-1, 1))
	}
	return q.working
}

// take hands the commands over; nil when there are none.
func (q *workQueue) take() tea.Cmd {
	if len(q.commands) == 0 {
		return nil
	}
	commands := q.commands
	q.commands = nil
	return tea.Batch(commands...)
}
