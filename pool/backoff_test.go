package pool

import (
	"slices"
	"testing"
)

func TestWithNoGainTheCallsThatRunAreFurtherAndFurtherApart(t *testing.T) {
	var backoff Backoff
	var ran []int
	for call := range 100 {
		if !backoff.BackedOff() {
			ran = append(ran, call)
			backoff.Note(gib, gib)
		}
	}
	if want := []int{0, 2, 5, 10, 19, 36, 69}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
}

func TestAGainOf64MiBEndsTheBackoff(t *testing.T) {
	var backoff Backoff
	backoff.Note(gib, gib+BackoffGain-1)
	if skip, window := backoff.State(); skip != 1 || window != 1 {
		t.Errorf("a byte too little: skip %d, window %d", skip, window)
	}
	backoff.Note(gib, gib+BackoffGain)
	if skip, window := backoff.State(); skip != 0 || window != 0 {
		t.Errorf("64 MiB are enough: skip %d, window %d", skip, window)
	}
}

func TestMissingTelemetryNeverSkips(t *testing.T) {
	var backoff Backoff
	for range 10 {
		backoff.Note(Unknown, gib)
		backoff.Note(gib, Unknown)
		if backoff.BackedOff() {
			t.Fatal("skipped on an unknown reading")
		}
	}
}
