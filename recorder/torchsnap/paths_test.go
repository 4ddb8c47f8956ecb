package torchsnap

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"vramscope/recorder"
)

// readPlainly reads a pickle in pieces of some size, by the fast path or
// without it.
func readPlainly(content []byte, pieceBytes int, fast bool) (*recorder.Dump, error) {
	in := newInput(bytes.NewReader(content), pieceBytes)
	defer in.close()
	m := newMachine(in, func() int64 { return int64(len(content)) })
	m.fast.off = !fast
	return m.dump((*machine).run)
}

// TestReadingGivesWhatWasPickled draws snapshots and reads them back, as each
// pickler writes them, on both paths.
func TestReadingGivesWhatWasPickled(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		d := drawSnapshot(random, random.IntN(300), seed%3 == 0)
		for _, way := range []struct {
			name        string
			protocol    byte
			torchScript bool
		}{{"protocol 2", 2, false}, {"protocol 4", 4, false}, {"protocol 5", 5, false}, {"TorchScript", 2, true}} {
			content := pickled(d.top, way.protocol, way.torchScript, random).out
			for _, fast := range []bool{true, false} {
				dump, err := readPlainly(content, 1+random.IntN(5000), fast)
				if err != nil {
					t.Fatalf("seed %d, %s, fast %v: %v", seed, way.name, fast, err)
				}
				got := plain(dump)
				got.Problems = nil // they count sizes that make no sense
				if diff := difference(d.want, got); diff != "" {
					t.Fatalf("seed %d, %s, fast %v: %s", seed, way.name, fast, diff)
				}
			}
		}
	}
}

// TestPathsAgreeOnRealDumps reads the real dumps on both paths.
func TestPathsAgreeOnRealDumps(t *testing.T) {
	for _, name := range smallDumps {
		content := inflate(t, name)
		fast, err := readPlainly(content, pieceBytes, true)
		if err != nil {
			t.Fatal(err)
		}
		plainly, err := readPlainly(content, pieceBytes, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(plain(plainly), plain(fast)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestFastPathTakesMostEvents keeps the fast path from missing what each
// pickler writes, which no other test would notice.
func TestFastPathTakesMostEvents(t *testing.T) {
	d := drawSnapshot(rand.New(rand.NewPCG(7, 7)), 2000, false)
	for _, way := range []struct {
		protocol    byte
		torchScript bool
	}{{2, false}, {4, false}, {5, false}, {2, true}} {
		content := pickled(d.top, way.protocol, way.torchScript, nil).out
		in := newInput(bytes.NewReader(content), pieceBytes)
		m := newMachine(in, func() int64 { return 0 })
		if _, err := m.run(); err != nil {
			t.Fatal(err)
		}
		in.close()
		if m.eventCount < 1000 || m.dicts.count > m.eventCount/10+100 {
			t.Errorf("%+v: %d dictionaries were built for %d events", way, m.dicts.count, m.eventCount)
		}
	}
}

// TestPathsAgreeOnDamagedPickles changes bytes of real shapes at random: the
// two paths say the same, be it a dump or why there is none.
func TestPathsAgreeOnDamagedPickles(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 20))
	d := drawSnapshot(random, 30, false)
	for _, content := range [][]byte{
		pickled(d.top, 4, false, random).out, pickled(d.top, 2, false, nil).out, pickled(d.top, 2, true, nil).out,
		inflate(t, "expandable")[:6000],
	} {
		for range 700 {
			damaged := bytes.Clone(content)
			for range 1 + random.IntN(3) {
				damaged[random.IntN(len(damaged))] = byte(random.IntN(256))
			}
			if at := random.IntN(len(damaged)); random.IntN(3) == 0 { // a piece twice
				damaged = slices.Insert(damaged, at, damaged[at:min(at+random.IntN(40), len(damaged))]...)
			}
			fast, err := fuzzed(t, damaged, (*machine).run, true)
			plainly, plainErr := fuzzed(t, damaged, (*machine).run, false)
			if err != nil || plainErr != nil {
				if err == nil || plainErr == nil || err.Error() != plainErr.Error() {
					t.Fatalf("%v\n%v\n%q", err, plainErr, damaged)
				}
				continue
			}
			if diff := difference(plain(plainly), plain(fast)); diff != "" {
				t.Fatalf("%s\n%q", diff, damaged)
			}
		}
	}
}
