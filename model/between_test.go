package model

import (
	"math/rand/v2"
	"strings"
	"testing"

	"vramscope/recorder"
)

// movingProgram is a program that takes and gives back memory all the time,
// sampled ten times a second, beside a device that is read twice a second: its
// list of processes a little before its used bytes.
type movingProgram struct {
	store   *Store
	ns      int64
	program recorder.Head
	device  recorder.Head

	reserved       []int64 // by ms
	context, other int64   // what is true all the while
}

const movingGPU = "GPU-4f2e"

func newMovingProgram(reserved []int64) *movingProgram {
	m := &movingProgram{store: NewStore(Options{}), reserved: reserved, context: 400 << 20, other: 12 * gib}
	hello := func(src, kind string) recorder.Head {
		head := recorder.Head{Src: src}
		_ = m.store.Fold(src, &recorder.Hello{Head: head, Proto: 1, Min: 1, Kind: kind, Name: src, PID: 812, GPUs: []recorder.GPU{{UUID: movingGPU}}})
		return head
	}
	m.program, m.device = hello("p", recorder.KindProcess), hello("gpu", recorder.KindDevice)
	return m
}

// run runs to a moment in ms and answers the accounts then.
func (m *movingProgram) run(to int) Accounts {
	for ms := int(m.ns / 1e6); ms <= to; ms++ {
		m.ns = int64(ms+1) * 1e6
		m.program.Ns, m.device.Ns = m.ns, m.ns
		if ms%100 == 0 {
			_ = m.store.Fold("p", &recorder.Sample{Head: m.program, Sets: []recorder.CounterSet{
				counters("pool:1", recorder.OfPool, movingGPU, "", map[recorder.Counter]int64{recorder.Reserved: m.reserved[ms]})}})
		}
		if ms%500 == 137 {
			own := m.reserved[ms-40] + m.context
			_ = m.store.Fold("gpu", &recorder.Sample{Head: m.device, Sets: []recorder.CounterSet{
				counters("device", recorder.OfDevice, movingGPU, "", map[recorder.Counter]int64{recorder.Total: 140 * gib, recorder.Free: 140*gib - m.reserved[ms] - m.context - m.other,
					recorder.Used: m.reserved[ms] + m.context + m.other}),
				counters("process:812", recorder.OfProcess, movingGPU, "device", map[recorder.Counter]int64{recorder.Used: own})}})
		}
	}
	snapshot := m.store.Snapshot(m.ns, 0)
	return AccountsOf(snapshot.Find("p"), []*SourceView{snapshot.Find("gpu")}, movingGPU)
}

// TestADifferenceOfTwoMoments is never below zero, says that it is about, and
// lies no further from the truth than what moved.
func TestADifferenceOfTwoMoments(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	reserved := make([]int64, 30_000)
	for ms := range reserved {
		if ms > 0 {
			reserved[ms] = reserved[ms-1]
		}
		if ms%230 == 0 {
			reserved[ms] = random.Int64N(2 * gib)
		}
	}
	for _, other := range []int64{0, 12 * gib} {
		m := newMovingProgram(reserved)
		m.other = other
		about := 0
		for at := 1500; at < len(reserved); at += 250 {
			a := m.run(at)
			for _, c := range []struct {
				name string
				got  Figure
				want int64
			}{{"rest", a.Rest, m.context}, {"others", a.Others, m.other}} {
				if !c.got.Known || c.got.Value < 0 || c.got.Value > c.want+2*gib || c.got.Value < c.want-2*gib {
					t.Fatalf("at %d ms %s is %+v, in truth %d", at, c.name, c.got, c.want)
				}
				if c.got.Value != c.want && !c.got.About {
					t.Fatalf("at %d ms %s is %+v as if it were known to the byte, in truth %d", at, c.name, c.got, c.want)
				}
				if c.got.About {
					about++
				}
			}
			if other == 0 && a.Others.Value != 0 {
				t.Fatalf("at %d ms programs that are not there use %+v", at, a.Others)
			}
		}
		if about == 0 {
			t.Error("nothing was ever about")
		}
	}
}

// TestADifferenceWhileNothingMoves is known to the byte, and while something does
// it is the one from before.
func TestADifferenceWhileNothingMoves(t *testing.T) {
	reserved := make([]int64, 6000)
	for ms := range reserved {
		reserved[ms] = 3 * gib
		if ms >= 4000 {
			reserved[ms] = int64(3+ms/90%5) * gib
		}
	}
	m := newMovingProgram(reserved)
	if a := m.run(3900); a.Rest.About || a.Others.About || a.Rest.Value != m.context || a.Others.Value != m.other || a.Untold.Known {
		t.Errorf("rest %+v, others %+v, untold %+v", a.Rest, a.Others, a.Untold)
	}
	a := m.run(5200)
	if !a.Rest.About || a.Rest.Value != m.context || !strings.Contains(a.Rest.Origin, "when nothing moved") {
		t.Errorf("rest %+v", a.Rest)
	}
	if !a.Others.About || a.Others.Value != m.other || a.Untold.Known {
		t.Errorf("others %+v, untold %+v", a.Others, a.Untold)
	}
}

// TestADifferenceBelowZero that nothing explains is no size.
func TestADifferenceBelowZero(t *testing.T) {
	m := newMovingProgram(make([]int64, 2000))
	for ms := range m.reserved {
		m.reserved[ms] = gib
	}
	m.context = -300 << 20 // the driver leaves a part out
	if a := m.run(1900); a.Rest.Known || !strings.Contains(a.Rest.Why, "the driver leaves a part of them out") {
		t.Errorf("%+v", a.Rest)
	}
}
