package costs

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/model/dump"
	"vramscope/recorder"
)

func param(key, value string) recorder.DumpSetting {
	return recorder.DumpSetting{Key: key, Value: value}
}

func route(params ...recorder.DumpSetting) []recorder.DumpSetting { return params }

// worked is the published example: 4n floats, 64n in a temporary context, and 4n
// after it.
func worked() recorder.CostTrace {
	return recorder.CostTrace{
		{Op: arena.OpAlloc, Slope: 4, ItemSize: 4}, {Op: arena.OpTempPush}, {Op: arena.OpAlloc, Slope: 64, ItemSize: 4}, {Op: arena.OpTempPop},
		{Op: arena.OpAlloc, Slope: 4, ItemSize: 4},
	}
}

// tables are some of the published numbers.
func tables() *recorder.Costs {
	density := &recorder.DensityCost{Of: "num_fragments", Per: []string{"frames", "pixels"}, PerUnit: 0.1636, Largest: 0.2226, Samples: 46}
	return &recorder.Costs{
		Format: "memory tables by algan", Version: "0.2.2", Commit: "d81b2a9", Generated: "2026-08-01T01:21:20Z", Fingerprint: "sha256:00",
		Environment: []recorder.DumpSetting{param("torch", "2.7.1+cu128"), param("kbuf", "4")}, Corpus: []string{"render:shapes"},
		DensityPercentile: 95, DensitySafety: 1.15, RatiosKnown: true, Ratios: []recorder.RatioCost{{Name: "project", Ratio: 4.7, P95: 4.512, Samples: 31}},
		Scopes: []recorder.ScopeCost{
			{Name: "postprocess", Route: route(param("chain", "glow"), param("width", "480")), Trace: worked()},
			{Name: "postprocess", Route: route(param("chain", ""), param("width", "480")), Trace: recorder.CostTrace{{Op: arena.OpAlloc, Slope: 388800, ItemSize: 1}, {Op: arena.OpPersist, Intercept: 3, ItemSize: 4}}},
			{Name: "batch_metadata", Units: &recorder.UnitCost{Fixed: 16, AlignSlack: 3}},
			{Name: "wavefront_state", Route: route(param("global_hits", "0")), Units: &recorder.UnitCost{Drivers: []recorder.UnitDriver{{Name: "pool", Bytes: 92}, {Name: "primary", Bytes: 28}}, Fixed: 16, AlignSlack: 3}},
			{Name: "sparse_discovery", Units: &recorder.UnitCost{Drivers: []recorder.UnitDriver{{Name: "num_fragments", Bytes: 28}, {Name: "num_pairs", Bytes: 4}}, Fixed: 12, AlignSlack: 36}, Density: density},
		},
	}
}

func TestAnswers(t *testing.T) {
	x := New(tables())
	for _, test := range []struct {
		name    string
		scope   int
		q       Question
		peak    int64
		end     int64 // -1 not known
		reverse int64
		needs   []string
	}{
		{"the worked example", 0, Question{Frames: 2}, 544, 64, 0, nil},
		{"with a reverse side", 1, Question{Frames: 3}, 3 * 388800, 3 * 388800, 3*4 + 3, nil},
		{"without drivers", 2, Question{Frames: 9}, 19, -1, -1, nil},
		{"with its drivers", 3, Question{1, map[string]int64{"pool": 65536, "primary": 1000}}, 92*65536 + 28*1000 + 19, -1, -1, nil},
		{"without one of its drivers", 3, Question{1, map[string]int64{"pool": 65536}}, -1, -1, -1, []string{"primary"}},
		{"without any", 3, Question{Frames: 1}, -1, -1, -1, []string{"pool", "primary"}},
		{"a density that is given", 4, Question{1, map[string]int64{"num_fragments": 10, "num_pairs": 1}}, 280 + 4 + 48, -1, -1, nil},
		{"a density that is expected", 4, Question{2, map[string]int64{"pixels": 1000, "num_pairs": 0}}, 28*377 + 48, -1, -1, nil}, // 0.1636 × 1.15 × 2000 = 376.28
		{"a density without what it is for", 4, Question{Frames: 2}, -1, -1, -1, []string{"num_fragments", "num_pairs"}},
		{"more than can be counted", 3, Question{1, map[string]int64{"pool": 1 << 60, "primary": 1 << 60}}, -1, -1, -1, nil},
	} {
		a := x.Scopes[test.scope].At(test.q, x.Costs.DensitySafety)
		for what, amount := range map[string]struct {
			got  Amount
			want int64
		}{"peak": {a.Peak, test.peak}, "end": {a.End, test.end}, "reverse peak": {a.ReversePeak, test.reverse}} {
			if amount.got.Known != (amount.want >= 0) || amount.got.Known && amount.got.Bytes != amount.want || amount.got.Known == (amount.got.Why != "") {
				t.Errorf("%s: %s is %+v, want %d", test.name, what, amount.got, amount.want)
			}
		}
		if !slices.Equal(a.Needs, test.needs) {
			t.Errorf("%s needs %v", test.name, a.Needs)
		}
	}
}

func TestRoutesAreToldApartByWhatVaries(t *testing.T) {
	x := New(tables())
	if s := &x.Scopes[0]; s.Route != "chain=glow width=480" || s.Varies != "chain=glow" || x.Common(s.Name) != "width=480" {
		t.Errorf("%q, %q, %q", s.Route, s.Varies, x.Common(s.Name))
	}
}

// TestFallingPeaksAreSaid: a search for the most frames relies on peaks that
// never fall.
func TestFallingPeaksAreSaid(t *testing.T) {
	costs := &recorder.Costs{Scopes: []recorder.ScopeCost{{Name: "odd", Trace: recorder.CostTrace{{Op: arena.OpAlloc, Intercept: 100, Slope: -1, ItemSize: 4}}}}}
	x := New(costs)
	if fall := x.Scopes[0].Falls; fall != (Fall{2, 396, 392}) || len(x.Problems) != 1 || !strings.Contains(x.Problems[0], "396 B at 1 to 392 B at 2 frames") {
		t.Errorf("%+v, %q", fall, x.Problems)
	}
	if fall := New(tables()).Scopes[0].Falls; fall.Frames != 0 {
		t.Errorf("a peak that grows falls at %d", fall.Frames)
	}
}

// TestImplausibleTracesAreSaid: what the program passes over is told, once a
// scope.
func TestImplausibleTracesAreSaid(t *testing.T) {
	alloc, push, pop := recorder.CostEvent{Op: arena.OpAlloc, Slope: 4, ItemSize: 4}, recorder.CostEvent{Op: arena.OpTempPush}, recorder.CostEvent{Op: arena.OpTempPop}
	for _, test := range []struct {
		trace recorder.CostTrace
		says  string
	}{
		{worked(), ""},
		{recorder.CostTrace{}, ""},
		{recorder.CostTrace{push, alloc, push, alloc, pop}, "1 never closed"},
		{recorder.CostTrace{alloc, pop, push, pop, pop}, "2 closed that were never opened"},
		{recorder.CostTrace{pop, push}, "1 never closed, so that their bytes count as kept, 1 closed that were never opened"},
	} {
		x := New(&recorder.Costs{Scopes: []recorder.ScopeCost{{Name: "shade", Trace: test.trace}}})
		text := strings.Join(x.Problems, "\n")
		if (text == "") != (test.says == "") || !strings.Contains(text, test.says) || test.says != "" && !strings.HasPrefix(text, "shade: ") {
			t.Errorf("%+v: %q", test.trace, text)
		}
	}
}

// TestReportSaysWhyNothingIsKnown: negative and uncountable numbers, and drivers
// that no scope has.
func TestReportSaysWhyNothingIsKnown(t *testing.T) {
	costs := tables()
	costs.Scopes[0].Trace = recorder.CostTrace{{Op: arena.OpAlloc, Intercept: -5, Slope: 1, ItemSize: 4}}
	report := New(costs).Report([]int64{1, 8}, map[string]int64{"pool": 1<<63 - 1, "primary": 1, "poool": 3})
	var out bytes.Buffer
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"not known at 1: event 0 comes to a negative", "not known at 1: it comes to an uncountable number of bytes",
		`! no scope grows with "poool": write one of frames, num_fragments, num_pairs, pixels, pool, primary`,
	} {
		if strings.Count(out.String(), want) != 1 {
			t.Errorf("%q does not stand there once:\n%s", want, out.String())
		}
	}
}

func TestQuestions(t *testing.T) {
	if frames, err := ParseFrames("1, 8,64,8"); err != nil || !slices.Equal(frames, []int64{1, 8, 64}) {
		t.Errorf("%v, %v", frames, err)
	}
	for _, text := range []string{"", "0", "-1", "x", "1,", "1.5", "99999999999", "1,2,3,4,5,6,7,8,9", "\x1b[2J"} {
		var failed *QuestionError
		if _, err := ParseFrames(text); !errors.As(err, &failed) || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if name, units, err := ParseDriver("pool=65536"); err != nil || name != "pool" || units != 65536 {
		t.Errorf("%q, %d, %v", name, units, err)
	}
	for _, text := range []string{"", "pool", "=5", "pool=", "pool=-1", "pool=many"} {
		var failed *QuestionError
		if _, _, err := ParseDriver(text); !errors.As(err, &failed) {
			t.Errorf("%q: %v", text, err)
		}
	}
	q := Question{Frames: 1}
	if with := q.With("pool", 5).With("a", 1); with.DriversText() != "a=1 pool=5" || len(q.Drivers) != 0 {
		t.Errorf("%v, and before %v", with, q)
	}
}

// golden holds a text to a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if os.Getenv("VRAMSCOPE_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || got != string(want) {
		t.Errorf("%s (%v) is now\n%s", path, err, got)
	}
}

func TestReportText(t *testing.T) {
	var out bytes.Buffer
	if err := New(tables()).Report(DefaultFrames, map[string]int64{"pool": 65536}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.txt", out.String())
}

// TestReportJSON: what is not known is null, and a known zero is 0.
func TestReportJSON(t *testing.T) {
	encoded, err := json.Marshal(New(tables()).Report([]int64{2}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"at":[{"frames":2,"peak":544,"end":64,"reverse_peak":0,"reverse_end":0,"expected_units":null,"needs":[],"why":""}]`,
		`"peak":null,"end":null,"reverse_peak":null,"reverse_end":null,"expected_units":null,"needs":["pool","primary"],"why":"it grows with pool, primary: give their numbers of units"`,
		`"nonarena":[{"name":"project","ratio":4.7,"ratio_p95":4.512,"samples":31}],"nonarena_known":true`,
	} {
		if !bytes.Contains(encoded, []byte(want)) {
			t.Errorf("%s is not in %s", want, encoded)
		}
	}
}

func TestDiff(t *testing.T) {
	a, b := tables(), tables()
	b.Fingerprint, b.Version, b.Environment[1].Value = "sha256:99", "0.2.3", "5"
	b.Scopes[0].Trace[2].Slope = 80
	b.Scopes[1].Trace[1].Intercept = 4 // the reverse side alone
	b.Scopes[3].Units.Drivers[0].Bytes = 96
	b.Scopes[4].Density.PerUnit = 0.2
	b.Scopes = append(slices.Delete(b.Scopes, 2, 3), recorder.ScopeCost{Name: "denoise_aovs", Units: &recorder.UnitCost{Fixed: 8}})
	b.Ratios[0].Ratio = 5
	d := NewDiff(Side{New(a), "a.py"}, Side{New(b), "b.py"}, DefaultFrames, nil)
	changes := map[string]dump.Change{}
	for _, change := range d.Scopes {
		changes[strings.TrimSpace(change.Scope+" "+change.route)] = change.Change
	}
	for name, want := range map[string]dump.Change{
		"postprocess chain=glow width=480": dump.ChangeGrown, "postprocess chain= width=480": ChangeOther, "batch_metadata": dump.ChangeGone,
		"wavefront_state global_hits=0": ChangeOther, "sparse_discovery": ChangeOther, "denoise_aovs": dump.ChangeNew,
	} {
		if changes[name] != want {
			t.Errorf("%s is %q, want %q", name, changes[name], want)
		}
	}
	if d.Stale == nil || !*d.Stale || len(d.NonArena) != 1 || d.Same != 0 {
		t.Errorf("%+v", d)
	}
	var out bytes.Buffer
	if err := d.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "diff.txt", out.String())
}

// TestDiffOfAProbe compares the probe's scope alone.
func TestDiffOfAProbe(t *testing.T) {
	probe := &recorder.Costs{Format: "a probe by algan", Probe: true, Fingerprint: "sha256:77", Scopes: []recorder.ScopeCost{tables().Scopes[0]}}
	for _, d := range []*Diff{
		NewDiff(Side{New(tables()), "a"}, Side{New(probe), "b"}, DefaultFrames, nil), NewDiff(Side{New(probe), "a"}, Side{New(tables()), "b"}, DefaultFrames, nil),
	} {
		if len(d.Scopes) != 0 || d.Same != 1 || d.Stale == nil || !*d.Stale || !strings.Contains(d.Verdict, "takes the probe for stale") {
			t.Errorf("%+v", d)
		}
	}
	probe.Fingerprint = ""
	if d := NewDiff(Side{New(tables()), "a"}, Side{New(probe), "b"}, DefaultFrames, nil); d.Stale != nil {
		t.Errorf("stale is %v though a fingerprint is missing", *d.Stale)
	}
}

// TestTextsObeyNoTerminal: whatever names a file holds, no escape comes out.
func TestTextsObeyNoTerminal(t *testing.T) {
	const evil = "\x1b]0;owned\x07\u202e\n\u009b"
	costs := tables()
	costs.Version, costs.Commit, costs.Fingerprint, costs.Corpus[0], costs.Extras, costs.Problems = evil, evil, evil, evil, []string{evil}, []string{evil}
	costs.Environment[0] = param(evil, evil)
	costs.Ratios[0].Name = evil
	for i := range costs.Scopes {
		costs.Scopes[i].Name += evil
		costs.Scopes[i].Route = route(param(evil, evil))
		if costs.Scopes[i].Units != nil {
			costs.Scopes[i].Units.Drivers = append(costs.Scopes[i].Units.Drivers, recorder.UnitDriver{Name: evil})
		}
	}
	costs.Scopes[4].Density.Of, costs.Scopes[4].Density.Per = evil, []string{evil}
	var out bytes.Buffer
	x := New(costs)
	_ = x.Report(DefaultFrames, map[string]int64{evil: 1}).WriteText(&out)
	_ = NewDiff(Side{x, evil}, Side{New(tables()), evil}, DefaultFrames, nil).WriteText(&out)
	for _, r := range out.String() {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == '\u202e' {
			t.Fatalf("%q comes out in %q", r, out.String())
		}
	}
}
