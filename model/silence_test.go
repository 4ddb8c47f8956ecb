package model

import (
	"strings"
	"testing"

	"vramscope/recorder"
)

// silentRun is a program whose torch tells 500 MiB for so many samples, a tenth of a
// second each, and raises from then on, beside a CuPy that goes on.
type silentRun struct {
	t     *testing.T
	store *Store
	ns    int64
}

const illegalAccess = "RuntimeError: CUDA error: an illegal memory access was encountered"

func newSilentRun(t *testing.T, options Options) *silentRun {
	r := &silentRun{t: t, store: NewStore(options), ns: 1e9}
	r.store.Add(SourceInfo{ID: "p"})
	r.fold(&recorder.Hello{Head: r.head(), Proto: 1, Min: 1, Kind: recorder.KindProcess, Name: "train.py", PID: 7,
		GPUs: []recorder.GPU{{UUID: "gpu", Name: "H200"}}})
	return r
}

func (r *silentRun) head() recorder.Head { return recorder.Head{Src: "p", Ns: r.ns} }

func (r *silentRun) fold(record recorder.Record) {
	r.t.Helper()
	if err := r.store.Fold("p", record); err != nil {
		r.t.Fatal(err)
	}
}

// sample tells of both libraries; why is the reason for which torch raises, "" where
// it tells.
func (r *silentRun) sample(why string) {
	r.t.Helper()
	r.ns += 1e8
	torch := counters("torch:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{
		recorder.Reserved: 500, recorder.Allocated: 400, recorder.Retries: 2})
	torch.Name = "torch"
	if why != "" {
		torch.Values = recorder.Counters{}
		torch.Why = map[string]string{"reserved": why, "allocated": why}
	}
	cupy := counters("cupy:0", recorder.OfPool, "gpu", "", map[recorder.Counter]int64{recorder.Reserved: 30, recorder.Allocated: 10})
	device := counters("device:0", recorder.OfDevice, "gpu", "", map[recorder.Counter]int64{recorder.Free: 8000, recorder.Total: 10000})
	r.fold(&recorder.Sample{Head: r.head(), Sets: []recorder.CounterSet{torch, cupy, device}})
}

func (r *silentRun) view() *SourceView { return r.store.Snapshot(r.ns, 0).Find("p") }

func (r *silentRun) samples(n int, why string) {
	r.t.Helper()
	for range n {
		r.sample(why)
	}
}

// TestASetThatFallsSilentKeepsWhatItToldLast with its moment and the library's own
// reason, in no sum.
func TestASetThatFallsSilentKeepsWhatItToldLast(t *testing.T) {
	r := newSilentRun(t, Options{})
	r.samples(20, "")
	last := r.ns
	if told, _ := r.view().ToldLast(r.view().FindSet("torch:0")); told != nil {
		t.Fatalf("what tells is taken to be silent: %+v", told)
	}
	r.samples(60, illegalAccess)
	check := func(view *SourceView) {
		t.Helper()
		set := view.FindSet("torch:0")
		told, ns := view.ToldLast(set)
		if told == nil || ns != last {
			t.Fatalf("torch told last %+v at %d, want that of %d", told, ns, last)
		}
		figure := view.Figure(set, recorder.Reserved)
		if figure.Known || figure.Value != 0 || figure.Last != 500 || figure.LastNs != last ||
			figure.Why != "torch tells no numbers any more: "+illegalAccess {
			t.Errorf("its reserved bytes are %+v", figure)
		}
		if retries := view.Figure(set, recorder.Retries); retries.Last != 2 || !strings.Contains(retries.Why, illegalAccess) {
			t.Errorf("a number without a reason of its own is %+v", retries)
		}
		headroom := HeadroomOf(view, nil, "gpu", 0)
		if headroom.Bytes.Known || headroom.AtLeast.Value != 8000+20 || !strings.Contains(headroom.Formula(), "torch tells no numbers any more") {
			t.Errorf("the headroom is %s (%+v)", headroom.Formula(), headroom.AtLeast)
		}
		if sum := view.Sum(recorder.Reserved, "gpu"); sum.Known {
			t.Errorf("the sum of what is reserved is %+v", sum)
		}
		if accounts := AccountsOf(view, nil, "gpu"); accounts.Held.Value != 30 || accounts.Silent != 1 {
			t.Errorf("the accounts are %+v", accounts)
		}
	}
	check(r.view())
	r.ns += 1e8
	r.fold(&recorder.Bye{Head: r.head(), Why: "died"})
	check(r.view())
	check(r.view().At(r.ns - 3e9))
	if before := r.view().At(last); !before.Figure(before.FindSet("torch:0"), recorder.Reserved).Known {
		t.Error("the moment at which it still told has no numbers")
	}
}

// TestWhatWasToldLastOutlivesItsHistory: a program that hangs over night after an
// error still says what it held.
func TestWhatWasToldLastOutlivesItsHistory(t *testing.T) {
	r := newSilentRun(t, Options{Live: Limits{History: HistoryLimits{Duration: 10e9}}})
	r.samples(20, "")
	r.samples(1000, illegalAccess)
	view := r.view()
	if _, _, kept := view.Peak("torch:0", recorder.Reserved); kept {
		t.Fatal("the samples are kept, and the test is none")
	}
	if told, _ := view.ToldLast(view.FindSet("torch:0")); told == nil || told.Values.Len() != 3 {
		t.Errorf("what torch told last is %+v", told)
	}
	report, _ := ReportOf(r.store.Snapshot(r.ns, 0), "p")
	for _, set := range report.Sources[0].Sets {
		if set.ID == "torch:0" && set.LastAt != 2e9 {
			t.Errorf("the report says that it was told last after %d", set.LastAt)
		}
	}
}

// TestASilenceIsToldOnce: when it begins and when it ends, whatever the library says
// each time, and not at each change of a library that cannot decide.
func TestASilenceIsToldOnce(t *testing.T) {
	r := newSilentRun(t, Options{})
	lines := func() (texts []string) {
		for _, entry := range r.store.Snapshot(r.ns, 0).Log {
			texts = append(texts, entry.Text)
		}
		return texts
	}
	check := func(want ...string) {
		t.Helper()
		if got := lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the log has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	r.samples(5, "")
	check()
	for i := range 50 {
		r.sample("Error: call " + strings.Repeat("1", i%4+1) + " failed")
	}
	first := "torch tells no numbers any more: Error: call 1 failed"
	check(first)
	r.samples(5, illegalAccess)
	second := "torch tells no numbers any more: " + illegalAccess
	check(first, second)
	r.samples(5, "")
	again := "torch tells numbers again"
	check(first, second, again)
	for range 50 {
		r.sample(illegalAccess)
		r.sample("")
	}
	check(first, second, again)
	r.ns += sameErrorNs
	r.samples(5, illegalAccess)
	check(first, second, again, second)
}

// TestAnAllocatorThatNeverCountedIsNotSilent: another library has its numbers.
func TestAnAllocatorThatNeverCountedIsNotSilent(t *testing.T) {
	r := newSilentRun(t, Options{})
	r.samples(20, "torch: external allocator, RMM has the numbers")
	view := r.view()
	if told, _ := view.ToldLast(view.FindSet("torch:0")); told != nil || len(r.store.Snapshot(r.ns, 0).Log) != 0 {
		t.Errorf("it has told %+v, and the log has %+v", told, r.store.Snapshot(r.ns, 0).Log)
	}
}

// TestAColumnSaysThatASetCouldNotTell apart from one in which there was no such set.
func TestAColumnSaysThatASetCouldNotTell(t *testing.T) {
	r := newSilentRun(t, Options{})
	r.samples(20, "")
	r.samples(20, illegalAccess)
	view := r.view()
	columns := view.Columns(nil, "torch:0", recorder.Reserved, 0, r.ns+1, 10)
	first, last := columns[0], columns[9]
	if first.Known || first.Untold || last.Known || !last.Untold || !columns[4].Known {
		t.Errorf("the columns are %+v", columns)
	}
}
