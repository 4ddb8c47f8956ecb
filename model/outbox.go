package model

import (
	"crypto/rand"
	"encoding/hex"

	"vramscope/recorder"
)

// defaultTTL is how long a command may wait for the program's next frame
// boundary, in ms.
const defaultTTL = 30_000

// Outbox makes the commands that are sent, and none twice: a key pressed again
// while its command is on the way is refused. It belongs to one goroutine, that
// of whoever sends.
type Outbox struct {
	ReadOnly bool  // refuse everything
	TTL      int64 // ms that a command may wait; 0 is 30 s

	waiting map[outboxKey]waitingCommand
}

type outboxKey struct{ view, command string }

type waitingCommand struct {
	id    string
	until int64 // store's ns: after it no answer can come
}

// Command makes a command for a source, with an ID that nobody can guess. Now is
// the dashboard's monotonic ns. The error is a *RefusedError.
func (o *Outbox) Command(v *SourceView, name string, args recorder.CommandArgs, now int64) (*recorder.Command, error) {
	if err := Permit(v, name, o.ReadOnly); err != nil {
		return nil, err
	}
	key := outboxKey{v.ID, name}
	if waiting, ok := o.waiting[key]; ok && now < waiting.until && !v.answered(waiting.id) {
		return nil, &RefusedError{Command: name, Target: v.title(), Why: "it was sent just now and has not been answered"}
	}
	ttl := o.TTL
	if ttl <= 0 {
		ttl = defaultTTL
	}
	command := &recorder.Command{Head: recorder.Head{Src: v.Src}, ID: commandID(), Name: name, Args: args, TTL: ttl}
	if o.waiting == nil {
		o.waiting = map[outboxKey]waitingCommand{}
	}
	o.waiting[key] = waitingCommand{id: command.ID, until: now + (ttl+answerGrace)*1_000_000}
	return command, nil
}

// Failed forgets a command that could not even be sent, so that it can be tried
// again.
func (o *Outbox) Failed(v *SourceView, command *recorder.Command) {
	delete(o.waiting, outboxKey{v.ID, command.Name})
}

// answered says whether a command has its final answer.
func (v *SourceView) answered(id string) bool {
	for i := range v.Actions {
		if v.Actions[i].Command.ID == id {
			return v.Actions[i].Final != nil
		}
	}
	return false
}

// commandID is 64 random bits.
func commandID() string {
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // it never fails
	return hex.EncodeToString(bits[:])
}
