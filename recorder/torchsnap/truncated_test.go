package torchsnap

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// flat is a dump's events and segments over all devices, in the order of the
// file.
func flat(p plainDump) (events []plainEvent, segments []plainSegment) {
	for _, d := range p.Devices {
		events = append(events, d.Events...)
		segments = append(segments, d.Segments...)
	}
	return events, segments
}

// TestCutAnywhere cuts snapshots at every byte: what is complete before the
// cut is there, neither more nor less.
func TestCutAnywhere(t *testing.T) {
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 3))
		d := drawSnapshot(random, 12, seed%2 == 0)
		wantEvents, wantSegments := flat(d.want)
		torchScript := seed%3 == 2
		p := pickled(d.top, []byte{4, 2, 2}[seed%3], torchScript, random)
		segmentDicts := d.top.pairs[1].(*sequence).items
		for cut := range p.out {
			events, segments := 0, 0
			for _, dict := range d.events {
				if p.ends[dict] <= cut {
					events++
				}
			}
			for _, dict := range segmentDicts {
				if p.ends[dict] <= cut {
					segments++
				}
			}
			dump, err := readPlainly(p.out[:cut], 256, true)
			if err != nil {
				checkSentence(t, err)
				if events+segments > 0 {
					t.Fatalf("seed %d, cut at %d of %d: %v", seed, cut, len(p.out), err)
				}
				continue
			}
			gotEvents, gotSegments := flat(plain(dump))
			if len(gotEvents) != events || len(gotSegments) != segments || !dump.Truncated {
				t.Fatalf("seed %d, cut at %d of %d: %d of %d events, %d of %d segments, truncated %v",
					seed, cut, len(p.out), len(gotEvents), events, len(gotSegments), segments, dump.Truncated)
			}
			if diff := difference(wantEvents[:events], gotEvents); diff != "" {
				t.Fatalf("seed %d, cut at %d: %s", seed, cut, diff)
			}
			if segments == len(wantSegments) {
				if diff := difference(wantSegments, gotSegments); diff != "" {
					t.Fatalf("seed %d, cut at %d: %s", seed, cut, diff)
				}
			}
		}
	}
}

// TestCutJSONAnywhere does the same with JSON text.
func TestCutJSONAnywhere(t *testing.T) {
	for seed := range uint64(3) {
		d := drawSnapshot(rand.New(rand.NewPCG(seed, 4)), 6, seed%2 == 0)
		want, _ := flat(d.want)
		var content bytes.Buffer
		asJSON(&content, d.top, " ")
		begin := strings.Index(content.String(), "device_traces") + 20
		before := 0
		for cut := begin; cut < content.Len(); cut++ {
			dump, err := readBytes(content.Bytes()[:cut])
			if err != nil {
				t.Fatalf("seed %d, cut at %d: %v", seed, cut, err)
			}
			events, _ := flat(plain(dump))
			if len(events) < before || len(events) > len(want) || !dump.Truncated {
				t.Fatalf("seed %d, cut at %d: %d events after %d, truncated %v", seed, cut, len(events), before, dump.Truncated)
			}
			before = len(events)
			if diff := difference(want[:before], events); diff != "" {
				t.Fatalf("seed %d, cut at %d: %s", seed, cut, diff)
			}
		}
		if before != len(want) {
			t.Errorf("seed %d: %d of %d events before the last byte", seed, before, len(want))
		}
	}
}

// TestCutRealDumps cuts a real dump where a full disk might: the segments are
// all there each time, and the events up to the cut.
func TestCutRealDumps(t *testing.T) {
	for _, name := range smallDumps {
		content := inflate(t, name)
		whole, err := readBytes(content)
		if err != nil {
			t.Fatal(err)
		}
		all, segments := flat(plain(whole))
		firstEvent := bytes.Index(content, []byte("device_traces"))
		before := 0
		for cut := firstEvent + 40; cut < len(content); cut += 1 + len(content)/60 {
			dump, err := readBytes(content[:cut])
			if err != nil {
				t.Fatalf("%s cut at %d: %v", name, cut, err)
			}
			events, gotSegments := flat(plain(dump))
			if len(gotSegments) != len(segments) || len(events) < before {
				t.Errorf("%s cut at %d: %d segments, %d events after %d", name, cut, len(gotSegments), len(events), before)
			}
			// An event takes 60 to 744 bytes of a real dump.
			if bytes := cut - firstEvent; cut < len(content)*9/10 && (len(events) < bytes/744 || len(events) > bytes/60) {
				t.Errorf("%s cut at %d: %d events", name, cut, len(events))
			}
			before = len(events)
			if diff := difference(all[:before], events); diff != "" {
				t.Fatalf("%s cut at %d: %s", name, cut, diff)
			}
			if !dump.Truncated || len(dump.Problems) != 1 || !strings.Contains(dump.Problems[0], "the file ends early") {
				t.Errorf("%s cut at %d: truncated %v, %q", name, cut, dump.Truncated, dump.Problems)
			}
		}
		// In the settings, behind the traces.
		dump, err := readBytes(content[:len(content)-30])
		if err != nil || dump.Devices[0].Events.Len() != len(all) {
			t.Errorf("%s without its last bytes: %v", name, err)
		}
	}
}

// TestBrokenInTheMiddle shows what stands before the broken place, with the
// reason; but a refusal stays one.
func TestBrokenInTheMiddle(t *testing.T) {
	content := inflate(t, "expandable")
	middle := len(content) / 2
	for _, c := range []struct{ bytes, problem string }{{"\xff\xff\xff\xff\xff\xff", "broken at byte"}} {
		broken := bytes.Clone(content)
		at := middle + bytes.Index(content[middle:], []byte("u}\x94(")) + 1
		copy(broken[at:], c.bytes)
		dump, err := readBytes(broken)
		if err != nil || !dump.Truncated || dump.Devices[0].Events.Len() < 50 || !strings.Contains(dump.Problems[0], c.problem) {
			t.Errorf("%q: %v", c.bytes, err)
		}
		copy(broken[at:], "cos\nsystem\n")
		if _, err := readBytes(broken); err == nil {
			t.Error("a refused opcode in the middle was opened")
		}
	}
}

// TestCutBareList: an open list of segments is one as well.
func TestCutBareList(t *testing.T) {
	d := drawSnapshot(rand.New(rand.NewPCG(5, 5)), 0, false)
	segments := d.top.pairs[1].(*sequence)
	content := pickled(segments, 4, false, nil).out
	whole, err := readBytes(content)
	if err != nil {
		t.Fatal(err)
	}
	_, want := flat(d.want)
	if _, got := flat(plain(whole)); difference(want, got) != "" {
		t.Error(difference(want, got))
	}
	dump, err := readBytes(content[:len(content)-20])
	if err != nil {
		t.Fatal(err)
	}
	if _, got := flat(plain(dump)); len(got) != len(want)-1 {
		t.Errorf("%d segments of %d", len(got), len(want))
	}
}
