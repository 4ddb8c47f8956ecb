package pool

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// torchStep is one operation of a recorded history, with what torch's own
// counters said after it.
type torchStep struct {
	op       string // "+" allocate, "-" free, "reset" reset the live peak
	current  int64
	livePeak int64
}

func (s *torchStep) UnmarshalJSON(text []byte) error {
	row := []any{&s.op, new(int64), &s.current, &s.livePeak}
	return json.Unmarshal(text, &row)
}

// torchHistories are 12 histories of 120 operations on torch 2.11.
func torchHistories(t *testing.T) [][]torchStep {
	t.Helper()
	file, err := os.Open("testdata/torch-peaks.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Sequences [][]torchStep `json:"sequences"`
	}
	if err := json.NewDecoder(unzipped).Decode(&recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Sequences) != 12 || len(recorded.Sequences[0]) != 120 {
		t.Fatalf("%d histories", len(recorded.Sequences))
	}
	return recorded.Sequences
}

func TestTheLiveCounterAgreesWithTorch(t *testing.T) {
	for h, history := range torchHistories(t) {
		var counter LiveCounter
		for i, step := range history {
			move(&counter, step)
			if peak, current := counter.ReadPeak(); peak != step.livePeak || current != step.current {
				t.Fatalf("history %d, step %d %s: peak %d, current %d; torch %d, %d",
					h, i, step.op, peak, current, step.livePeak, step.current)
			}
		}
	}
}

func move(counter *LiveCounter, step torchStep) {
	if step.op == "reset" {
		counter.TakePeak()
		return
	}
	_, current := counter.ReadPeak()
	counter.Add(step.current - current)
}

// A region's begin reads the live peak, resets it and reads the current bytes:
// each reset of a history is taken as one. The regions are ended at random, so
// that they nest, follow one another, cross or stay open.
func TestRegionsOverTorchsHistories(t *testing.T) {
	for h, history := range torchHistories(t) {
		for seed := range uint64(20) {
			t.Run(fmt.Sprintf("history %d, seed %d", h, seed), func(t *testing.T) {
				placeRegions(t, history, rand.New(rand.NewPCG(seed, uint64(h))))
			})
		}
	}
}

func placeRegions(t *testing.T, history []torchStep, random *rand.Rand) {
	peaks, counter := watched()
	model := &peakModel{history: []int64{0}}
	var compatibleFloor int64
	saved := make(map[PeakToken]int64)
	for i, step := range history {
		if step.op == "reset" {
			before, _ := counter.ReadPeak()
			model.begin(peaks)
			saved[model.open[len(model.open)-1].token] = before
		} else {
			move(counter, step)
			model.history = append(model.history, step.current)
		}
		if live, current := counter.ReadPeak(); live != step.livePeak || current != step.current {
			t.Fatalf("step %d: live %d, current %d; torch %d, %d", i, live, current, step.livePeak, step.current)
		}
		if len(model.open) > 0 && random.IntN(6) == 0 {
			at := len(model.open) - 1
			if random.IntN(4) == 0 {
				at = random.IntN(len(model.open))
			}
			token, base := model.open[at].token, model.open[at].base
			compatibleFloor = max(compatibleFloor, saved[token], step.livePeak)
			if got, want := peaks.Read(token).Compatible, max(0, step.livePeak-base); got != want {
				t.Fatalf("step %d: compatible delta %d, by the rule %d", i, got, want)
			}
			model.end(t.Fatalf, peaks, at)
		}
		got, _ := peaks.Peak(cuda)
		if got.CompatibleFloor != compatibleFloor || got.Compatible != max(step.livePeak, compatibleFloor) {
			t.Fatalf("step %d: compatible %+v, by the rule floor %d", i, got, compatibleFloor)
		}
		model.checkReported(t.Fatalf, peaks)
	}
}
