package pool

import (
	"slices"
	"testing"
)

// manualClock is a clock that moves when it is told to.
type manualClock struct{ now int64 }

func (c *manualClock) read() int64 { return c.now }

const (
	millisecond int64 = 1_000_000
	second      int64 = 1_000_000_000
)

func grants(ladder *Ladder, calls int) []bool {
	var answers []bool
	for range calls {
		_, granted := ladder.Grant(1)
		answers = append(answers, granted)
	}
	return answers
}

func TestBackToBackTheLadderGrantsFiveRetries(t *testing.T) {
	clock := &manualClock{}
	ladder := NewLadder(clock.read)
	want := []bool{true, true, true, true, true, false, false}
	if got := grants(ladder, 7); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestRefusalsLastUntilASecondAfterTheLastGrantedRetry(t *testing.T) {
	clock := &manualClock{now: 10 * second}
	ladder := NewLadder(clock.read)
	grants(ladder, 5)
	clock.now += 900 * millisecond
	if _, granted := ladder.Grant(1); granted {
		t.Error("granted a sixth after 0.9 s")
	}
	clock.now += 100 * millisecond
	if _, granted := ladder.Grant(1); granted {
		t.Error("exactly 1 s is not more than 1 s")
	}
	clock.now++
	attempt, granted := ladder.Grant(1)
	if !granted || attempt != 1 {
		t.Errorf("after the cooldown: attempt %d, granted %v; the refusals must not have put it off", attempt, granted)
	}
}

func TestFailuresMoreThanASecondApartNeverExhaust(t *testing.T) {
	clock := &manualClock{}
	ladder := NewLadder(clock.read)
	for range 20 {
		clock.now += second + 1
		if attempt, granted := ladder.Grant(1); attempt != 1 || !granted {
			t.Fatalf("attempt %d, granted %v", attempt, granted)
		}
	}
}

func TestTheLadderOnTheScreen(t *testing.T) {
	clock := &manualClock{now: 5 * second}
	ladder := NewLadder(clock.read)
	if state := ladder.State(); state != (LadderState{LastFailed: Unknown}) {
		t.Errorf("before any failure: %+v", state)
	}
	for _, action := range []LadderAction{ActionCollect, ActionCollect, ActionCollect} {
		attempt, _ := ladder.Grant(4096)
		ladder.note(attempt, action)
	}
	clock.now += 600 * millisecond
	want := LadderState{
		Used: 3, Actions: [LadderRetries]LadderAction{ActionCollect, ActionCollect, ActionCollect},
		Cooldown: 400 * millisecond, LastFailed: 4096, LastAction: ActionCollect, Collections: 3,
	}
	if state := ladder.State(); state != want {
		t.Errorf("●●●○○ with 0.4 s to go: got %+v", state)
	}
	clock.now += 400*millisecond + 1
	state := ladder.State()
	if state.Used != 0 || state.Cooldown != 0 || state.LastFailed != 4096 || state.Collections != 3 {
		t.Errorf("whole again, with its history kept: %+v", state)
	}
	grants(ladder, 7)
	if state := ladder.State(); state.Used != 5 || state.Exhausted != 2 {
		t.Errorf("two refusals: %+v", state)
	}
}
