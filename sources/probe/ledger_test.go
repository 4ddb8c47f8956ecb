package probe

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"vramscope/recorder"
)

func newTestLedger() *ledger {
	return newLedger([]string{"reclaim", "rebuild"}, map[string]string{"snapshot": "the demo has no snapshot"},
		map[string]string{"rebuild": "frame boundary, then the device"})
}

func give(id, name string, ttl int64) *recorder.Command {
	return &recorder.Command{ID: id, Name: name, TTL: ttl}
}

// Each step is a moment in milliseconds, what happens, and the answer to it.
func TestLedgerAnswers(t *testing.T) {
	l := newTestLedger()
	receive := func(ms int64, reader int, command *recorder.Command, state string) *recorder.Ack {
		t.Helper()
		ack, _ := l.receive(ms*1e6, reader, command)
		if ack.ID != command.ID || ack.State != state {
			t.Fatalf("at %d ms %s %s was answered %s (%s), want %s", ms, command.Name, command.ID, ack.State, ack.Why, state)
		}
		return ack
	}
	receive(0, 1, give("a", "reclaim", 1000), "accepted")
	receive(1, 1, give("a", "reclaim", 1000), "accepted") // not twice
	receive(2, 2, give("a", "reclaim", 1000), "accepted") // another reader asks for the same
	receive(3, 2, give("b", "rebuild", 1000), "busy")
	receive(4, 2, give("b", "rebuild", 1000), "busy") // the stored answer
	if why := receive(5, 2, give("c", "snapshot", 0), "unsupported").Why; why != "the demo has no snapshot" {
		t.Errorf("snapshot is unsupported because %q", why)
	}
	receive(6, 2, give("d", "rm -rf", 0), "unsupported")

	run, _, _ := l.take(7e6)
	if run == nil || run.ID != "a" {
		t.Fatalf("take = %v, want command a", run)
	}
	if again, _, _ := l.take(8e6); again != nil {
		t.Fatal("the command was handed out twice")
	}
	if ack := receive(9, 1, give("a", "reclaim", 1000), "accepted"); ack.Where != "running" {
		t.Errorf("a running command is accepted with where = %q", ack.Where)
	}
	if expired, _ := l.expire(5000e6); expired != nil {
		t.Fatal("a command that runs expired")
	}
	_, askers := l.finish(&recorder.Ack{State: recorder.AckDone})
	if !slices.Equal(askers, []int{1, 2}) {
		t.Errorf("the final answer goes to %v, want readers 1 and 2", askers)
	}
	receive(6000, 3, give("a", "reclaim", 1000), "done")
	receive(6000, 3, give("e", "reclaim", 10), "accepted")
	if run, expired, _ := l.take(6010e6); run != nil || expired == nil || expired.State != "expired" {
		t.Fatal("a command was run at its deadline")
	}
	receive(6011, 3, give("e", "reclaim", 10), "expired")
	receive(6011, 3, give("", "reclaim", 10), "refused")
	receive(6012, 3, give("f", "reclaim", 0), "accepted")
	if expired, _ := l.expire(6012e6 + 4999e6); expired != nil {
		t.Error("without a time to live a command expired before five seconds")
	}
	if expired, _ := l.expire(6012e6 + 5000e6); expired == nil {
		t.Error("without a time to live a command did not expire after five seconds")
	}
}

func TestLedgerForgetsResultsButNoIDs(t *testing.T) {
	l := newTestLedger()
	for i := range keptResults + 1 {
		l.receive(0, 1, give(fmt.Sprint(i), "reclaim", 0))
		l.take(0)
		l.finish(&recorder.Ack{State: recorder.AckDone})
	}
	if ack, order := l.receive(0, 1, give("0", "reclaim", 0)); order != nil || ack.State != recorder.AckRefused {
		t.Errorf("an old command was answered %s, want refused", ack.State)
	}
	if ack, _ := l.receive(0, 1, give("1", "reclaim", 0)); ack.State != recorder.AckDone {
		t.Errorf("a recent command was answered %s, want the stored answer", ack.State)
	}
}

// Whatever comes in whatever order: nothing runs twice, nothing runs after its
// time, and every accepted command ends exactly once.
func TestLedgerRunsNothingTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newTestLedger()
		var now int64
		ran, ended, accepted := map[string]int{}, map[string]int{}, map[string]int64{}
		end := func(ack *recorder.Ack) {
			if ack != nil {
				ended[ack.ID]++
			}
		}
		running := false
		t.Repeat(map[string]func(*rapid.T){
			"receive": func(t *rapid.T) {
				id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(t, "id")
				ttl := rapid.Int64Range(1, 20).Draw(t, "ttl")
				if _, order := l.receive(now, 1, give(id, "reclaim", ttl)); order != nil {
					accepted[id] = now + ttl*1e6
				}
			},
			"wait": func(t *rapid.T) { now += rapid.Int64Range(0, 10e6).Draw(t, "ns") },
			"take": func(t *rapid.T) {
				command, expired, _ := l.take(now)
				end(expired)
				if command != nil {
					if now >= accepted[command.ID] {
						t.Fatalf("%s ran after its time", command.ID)
					}
					ran[command.ID]++
					running = true
				}
			},
			"expire": func(t *rapid.T) { ack, _ := l.expire(now); end(ack) },
			"finish": func(t *rapid.T) {
				if running {
					ack, _ := l.finish(&recorder.Ack{State: recorder.AckDone})
					end(ack)
					running = false
				}
			},
			"": func(t *rapid.T) {
				for id, n := range ran {
					if n > 1 {
						t.Fatalf("%s ran %d times", id, n)
					}
				}
				for id, n := range ended {
					if n > 1 {
						t.Fatalf("%s ended %d times", id, n)
					}
				}
			},
		})
	})
}

// A command says what it waits for where the program named that.
func TestAcceptanceSaysWhatIsWaitedFor(t *testing.T) {
	for name, want := range map[string]string{"reclaim": "frame boundary", "rebuild": "frame boundary, then the device"} {
		ack, _ := newTestLedger().receive(0, 1, &recorder.Command{ID: "1", Name: name})
		if ack.State != recorder.AckAccepted || ack.Where != want {
			t.Errorf("%s is %s and waits for %q, want %q", name, ack.State, ack.Where, want)
		}
	}
}
