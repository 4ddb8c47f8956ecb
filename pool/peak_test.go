package pool

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var cuda = DeviceKey{Kind: "cuda"}

// watched is a device whose counter the test moves.
func watched() (*Peaks, *LiveCounter) {
	peaks, counter := NewPeaks(), &LiveCounter{}
	peaks.Watch(cuda, counter)
	return peaks, counter
}

// expectPeaks compares the whole row of the worked tables.
func expectPeaks(t *testing.T, peaks *Peaks, step string, current, live, floor, compatible int64) {
	t.Helper()
	got, _ := peaks.Peak(cuda)
	if got.Current != current || got.Live != live || got.CompatibleFloor != floor || got.Compatible != compatible {
		t.Errorf("%s: cur %d, live %d, floor %d, peak_allocated %d; want %d, %d, %d, %d",
			step, got.Current, got.Live, got.CompatibleFloor, got.Compatible, current, live, floor, compatible)
	}
}

// expectReported checks the corrected peak and that it is the maximum of its
// parts.
func expectReported(t *testing.T, peaks *Peaks, step string, want int64) {
	t.Helper()
	got, _ := peaks.Peak(cuda)
	if got.Reported != want || got.Reported != max(got.Live, got.Floor, got.Open) {
		t.Errorf("%s: reported %d = max(live %d, floor %d, open %d), want %d",
			step, got.Reported, got.Live, got.Floor, got.Open, want)
	}
}

func TestTheWorkedNestedExample(t *testing.T) {
	peaks, counter := watched()
	counter.Add(1000)
	counter.Add(-700)
	expectPeaks(t, peaks, "start", 300, 1000, 0, 1000)

	outer := peaks.Begin(cuda)
	expectPeaks(t, peaks, "begin outer", 300, 300, 0, 300)
	expectReported(t, peaks, "begin outer", 1000)

	counter.Add(500)
	counter.Add(-400)
	expectPeaks(t, peaks, "outer +500, -400", 400, 800, 0, 800)
	expectReported(t, peaks, "outer +500, -400", 1000)

	inner := peaks.Begin(cuda)
	expectPeaks(t, peaks, "begin inner", 400, 400, 0, 400)
	expectReported(t, peaks, "begin inner", 1000)

	counter.Add(150)
	counter.Add(-150)
	expectPeaks(t, peaks, "inner +150, -150", 400, 550, 0, 550)

	if got := peaks.End(inner); got != (RegionPeak{Compatible: 150, Corrected: 150, Exact: true}) {
		t.Errorf("end inner: %+v", got)
	}
	expectPeaks(t, peaks, "end inner", 400, 550, 800, 800)
	expectReported(t, peaks, "end inner", 1000)

	counter.Add(50)
	counter.Add(-50)
	expectPeaks(t, peaks, "outer +50, -50", 400, 550, 800, 800)

	if got := peaks.End(outer); got != (RegionPeak{Compatible: 250, Corrected: 500, Exact: true}) {
		t.Errorf("end outer: %+v, want 250 as algan has it and truly 500", got)
	}
	expectPeaks(t, peaks, "end outer", 400, 550, 1000, 1000)
	expectReported(t, peaks, "end outer", 1000)
}

func TestTheWorkedExampleWithItsHighestPointInside(t *testing.T) {
	peaks, counter := watched()
	counter.Add(300)
	outer := peaks.Begin(cuda)
	counter.Add(100)
	inner := peaks.Begin(cuda)
	counter.Add(400)
	counter.Add(-400)
	if got := peaks.End(inner); got != (RegionPeak{Compatible: 400, Corrected: 400, Exact: true}) {
		t.Errorf("inner: %+v", got)
	}
	if got := peaks.End(outer); got != (RegionPeak{Compatible: 500, Corrected: 500, Exact: true}) {
		t.Errorf("outer: %+v", got)
	}
	expectPeaks(t, peaks, "after both", 400, 800, 800, 800)
}

func TestATokenThatIsNeverEndedLosesOnlyTheCompatiblePeak(t *testing.T) {
	peaks, counter := watched()
	counter.Add(1000)
	counter.Add(-1000)
	outer := peaks.Begin(cuda)
	counter.Add(600)
	counter.Add(-600)
	peaks.Begin(cuda) // dropped, as by a preflight that runs out of memory
	counter.Add(50)
	if got := peaks.End(outer); got != (RegionPeak{Compatible: 50, Corrected: 600, Exact: true}) {
		t.Errorf("outer: %+v", got)
	}
	expectPeaks(t, peaks, "the dropped token's 600 are lost", 50, 50, 1000, 1000)
	expectReported(t, peaks, "and not here", 1000)
}

func TestRegionsThatEndInTheWrongOrderAreExact(t *testing.T) {
	peaks, counter := watched()
	first := peaks.Begin(cuda)
	counter.Add(700)
	counter.Add(-600)
	second := peaks.Begin(cuda) // base 100
	counter.Add(200)
	if got := peaks.End(first).Corrected; got != 700 {
		t.Errorf("first: %d", got)
	}
	counter.Add(100)
	if got := peaks.End(second); got != (RegionPeak{Compatible: 300, Corrected: 300, Exact: true}) {
		t.Errorf("second: %+v", got)
	}
}

func TestNullTokensMeasureNothing(t *testing.T) {
	peaks, counter := watched()
	counter.Add(10)
	token := peaks.Begin(DeviceKey{Kind: "cpu"})
	if token != (PeakToken{}) || peaks.End(token) != (RegionPeak{}) || peaks.Read(token) != (RegionPeak{}) {
		t.Error("a region on a device that nobody watches measured something")
	}
	if _, ok := peaks.Peak(DeviceKey{Kind: "cpu"}); ok {
		t.Error("its peak is known")
	}
	if peaks.End(PeakToken{}) != (RegionPeak{}) {
		t.Error("the null token measured something")
	}
	peaks.ResetWindow(DeviceKey{Kind: "cpu"})
	expectPeaks(t, peaks, "nothing touched", 10, 10, 0, 10)
}

func TestATokenEndedTwiceIsNotExact(t *testing.T) {
	peaks, counter := watched()
	token := peaks.Begin(cuda)
	counter.Add(5)
	peaks.End(token)
	if got := peaks.End(token); got != (RegionPeak{Compatible: 5, Corrected: 5}) {
		t.Errorf("got %+v", got)
	}
	if got := peaks.Read(token); got != (RegionPeak{Compatible: 5, Corrected: 5}) {
		t.Errorf("read %+v", got)
	}
}

func TestAMeasuredBlockReadsLiveInsideAndStaysAfter(t *testing.T) {
	peaks, counter := watched()
	var read func() RegionPeak
	result := peaks.Measure(cuda, func(inside func() RegionPeak) {
		read = inside
		counter.Add(70)
		if got := read().Corrected; got != 70 {
			t.Errorf("inside: %d", got)
		}
	})
	counter.Add(1000)
	if result.Corrected != 70 || read() != result {
		t.Errorf("after: %+v, then %+v", result, read())
	}
	func() {
		defer func() { _ = recover() }()
		peaks.Measure(cuda, func(func() RegionPeak) { panic("out of memory") })
	}()
	if got, _ := peaks.Peak(cuda); got.OpenRegions != 0 {
		t.Error("a panic left the region open")
	}
}

func TestAResetStartsANewWindow(t *testing.T) {
	peaks, counter := watched()
	counter.Add(900)
	counter.Add(-800)
	outer := peaks.Begin(cuda) // displaces 900
	counter.Add(400)
	counter.Add(-400)
	peaks.ResetWindow(cuda)
	expectPeaks(t, peaks, "reset", 100, 100, 0, 100)
	expectReported(t, peaks, "what the open region displaced belongs to the last window", 100)
	counter.Add(50)
	if got := peaks.End(outer); got.Corrected != 400 || !got.Exact {
		t.Errorf("the region keeps its own peak over the reset: %+v", got)
	}
	expectReported(t, peaks, "after the end", 150)
}

func TestResettingTheFloorLeavesTheLivePeak(t *testing.T) {
	peaks, counter := watched()
	counter.Add(900)
	counter.Add(-800)
	peaks.End(peaks.Begin(cuda))
	expectPeaks(t, peaks, "floor 900", 100, 100, 900, 900)
	peaks.ResetFloor()
	expectPeaks(t, peaks, "floor 0", 100, 100, 0, 100)
	expectReported(t, peaks, "floor 0", 100)
}

func TestOpenRegionsAreBounded(t *testing.T) {
	peaks, counter := watched()
	counter.Add(900)
	counter.Add(-900)
	first := peaks.Begin(cuda)
	for range 3 * maxOpenRegions {
		peaks.Begin(cuda)
	}
	got, _ := peaks.Peak(cuda)
	if got.OpenRegions != maxOpenRegions || got.Reported != 900 {
		t.Errorf("%d open, reported %d", got.OpenRegions, got.Reported)
	}
	if end := peaks.End(first); end.Exact {
		t.Errorf("a region that was pushed out calls itself exact: %+v", end)
	}
}

func TestDeviceKeysMeet(t *testing.T) {
	for name, want := range map[string]DeviceKey{
		"cuda": cuda, "cuda:0": cuda, " CUDA:0 ": cuda, "cuda:1": {Kind: "cuda", Index: 1}, "host": {Kind: "host"},
	} {
		if got, err := ParseDeviceKey(name); err != nil || got != want {
			t.Errorf("%q is %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", ":0", "cuda:", "cuda:-1", "cuda:x", "cuda:1:2", "cuda:99999999999999999999"} {
		if key, err := ParseDeviceKey(name); err == nil {
			t.Errorf("%q is %v", name, key)
		}
	}
	if got := (DeviceKey{Kind: "cuda", Index: 1}).String(); got != "cuda:1" {
		t.Errorf("written %q", got)
	}
}

// plainRegion recomputes a region from the history of current bytes alone.
type plainRegion struct {
	token PeakToken
	base  int64
	from  int // place in the history where it began
}

func (r plainRegion) truth(history []int64) int64 {
	return max(0, slices.Max(history[r.from:])-r.base)
}

// peakModel is a history of current bytes, with regions and windows over it.
type peakModel struct {
	history []int64
	window  int // place where the window began
	open    []plainRegion
}

func (m *peakModel) current() int64 { return m.history[len(m.history)-1] }

// begin and end mirror a region of peaks in the model. The end is compared.
func (m *peakModel) begin(peaks *Peaks) {
	m.open = append(m.open, plainRegion{token: peaks.Begin(cuda), base: m.current(), from: len(m.history) - 1})
}

func (m *peakModel) end(fail func(string, ...any), peaks *Peaks, at int) {
	region := m.open[at]
	if got, want := peaks.Read(region.token), region.truth(m.history); got.Corrected != want {
		fail("read %+v, truly %d", got, want)
	}
	if got, want := peaks.End(region.token), region.truth(m.history); got.Corrected != want || !got.Exact {
		fail("ended with %+v, truly %d", got, want)
	}
	m.open = slices.Delete(m.open, at, at+1)
}

func (m *peakModel) checkReported(fail func(string, ...any), peaks *Peaks) {
	got, _ := peaks.Peak(cuda)
	if want := slices.Max(m.history[m.window:]); got.Reported != want || got.Current != m.current() {
		fail("reported %+v, truly %d of %v", got, want, m.history[m.window:])
	}
}

func TestCorrectedPeaksAreExactInAnyHistory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peaks, counter := watched()
		model := &peakModel{history: []int64{0}}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1:
				model.begin(peaks)
			case 2, 3:
				if len(model.open) > 0 {
					at := len(model.open) - 1
					if rapid.IntRange(0, 3).Draw(t, "wrong order") == 0 {
						at = rapid.IntRange(0, at).Draw(t, "which")
					}
					model.end(t.Fatalf, peaks, at)
				}
			case 4:
				if rapid.IntRange(0, 2).Draw(t, "reset") == 0 {
					peaks.ResetWindow(cuda)
					model.window = len(model.history) - 1
				}
			default:
				delta := rapid.Int64Range(-model.current(), 1000).Draw(t, "delta")
				counter.Add(delta)
				model.history = append(model.history, model.current()+delta)
			}
			model.checkReported(t.Fatalf, peaks)
		}
	})
}
