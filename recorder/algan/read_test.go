package algan

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/recorder"
)

func readFile(t testing.TB, path string) *recorder.Costs {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := ReadModule
	if strings.HasSuffix(path, ".json") {
		read = ReadProbe
	}
	costs, err := read(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return costs
}

func scopeOf(t *testing.T, costs *recorder.Costs, name string, route ...string) *recorder.ScopeCost {
	t.Helper()
	for i := range costs.Scopes {
		scope := &costs.Scopes[i]
		var values []string
		for _, param := range scope.Route {
			values = append(values, param.Key+"="+param.Value)
		}
		if scope.Name == name && slices.Equal(values, route) {
			return scope
		}
	}
	t.Fatalf("there is no %s on the route %v", name, route)
	return nil
}

func TestModule(t *testing.T) {
	costs := readFile(t, "testdata/mem_usage.py")
	if costs.Version != "0.2.2" || costs.Commit != "d81b2a9" || costs.Generated != "2026-08-01T01:21:20Z" || !strings.HasPrefix(costs.Fingerprint, "sha256:0011") {
		t.Errorf("the head is %q %q %q %q", costs.Version, costs.Commit, costs.Generated, costs.Fingerprint)
	}
	if want := []recorder.DumpSetting{{Key: "torch", Value: "2.7.1+cu128"}, {Key: "taichi", Value: "(1, 7, 4)"}, {Key: "kbuf", Value: "4"}, {Key: "python", Value: "3.11.6"}}; !slices.Equal(costs.Environment, want) {
		t.Errorf("environment %v", costs.Environment)
	}
	if len(costs.Corpus) != 3 || costs.DensityPercentile != 95 || costs.DensitySafety != 1.15 || len(costs.Scopes) != 11 {
		t.Errorf("corpus %v, density at %v with %v, %d scopes", costs.Corpus, costs.DensityPercentile, costs.DensitySafety, len(costs.Scopes))
	}
	if want := (recorder.RatioCost{Name: "project", Ratio: 4.7, P95: 4.512, Samples: 31}); !costs.RatiosKnown || !slices.Equal(costs.Ratios, []recorder.RatioCost{want}) {
		t.Errorf("ratios %v", costs.Ratios)
	}
	wavefront := scopeOf(t, costs, "wavefront_state", "global_hits=0", "sparse=1").Units
	if !slices.Equal(wavefront.Drivers, []recorder.UnitDriver{{Name: "pool", Bytes: 100}, {Name: "primary", Bytes: 28}}) || wavefront.Fixed != 24 || wavefront.AlignSlack != 3 {
		t.Errorf("wavefront_state is %+v", wavefront)
	}
	sparse := scopeOf(t, costs, "sparse_discovery")
	if d := sparse.Density; d == nil || d.Of != "num_fragments" || !slices.Equal(d.Per, []string{"frames", "pixels"}) || d.PerUnit != 0.1636 || d.Largest != 0.2226 || d.Samples != 46 || sparse.Units.AlignSlack != 36 {
		t.Errorf("sparse_discovery is %+v, %+v", sparse.Density, sparse.Units)
	}
}

// TestModuleReplaysTheWorkedExample goes all the way from the file's text to the
// published numbers.
func TestModuleReplaysTheWorkedExample(t *testing.T) {
	for _, path := range []string{"testdata/mem_usage.py", "testdata/0123456789abcdef01234567.json"} {
		scope := scopeOf(t, readFile(t, path), "postprocess", "anti_alias_level=1", "chain=glow()[]", "fxaa=0", "height=270", "width=480")
		got, err := scope.Trace.Replay(2, recorder.ReplayFrom{})
		if want := (recorder.Replayed{Peak: 544, End: 64, AllocCount: 3}); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", path, got, err, want)
		}
	}
}

func TestTraceEvents(t *testing.T) {
	scope := scopeOf(t, readFile(t, "testdata/mem_usage.py"), "postprocess", "anti_alias_level=1", "chain=", "fxaa=1", "height=270", "width=480")
	want := recorder.CostTrace{
		{Op: arena.OpAlloc, Slope: 518400, ItemSize: 4}, {Op: arena.OpTempPush, Clear: true},
		{Op: arena.OpPersist, Intercept: 3, ItemSize: 4}, {Op: arena.OpAlloc, Slope: 518400, ItemSize: 4}, {Op: arena.OpTempPop},
	}
	if !slices.Equal(scope.Trace, want) {
		t.Errorf("%+v", scope.Trace)
	}
}

func TestLastOneCounts(t *testing.T) {
	const module = "\ufeff" + `TRACES = {'old': {(): ()}}
TRACES = {'a': {(('n', 1),): (('A', 1, 0, 1, False),), (('n', 1),): (('A', 2, 0, 1, False),)}}`
	costs, err := ReadModule(strings.NewReader(module))
	if err != nil || len(costs.Scopes) != 1 || costs.Scopes[0].Trace[0].Intercept != 2 {
		t.Fatalf("%+v, %v", costs, err)
	}
}

// TestWhatIsNotATable says where it stands, in a sentence.
func TestWhatIsNotATable(t *testing.T) {
	for _, test := range []struct{ module, want string }{
		{"TRACES = 5", "malformed at line 1, column 10: a dictionary is expected, and here is an integer"},
		{"TRACES = {1: {}}", "a key is a string, and here is an integer"},
		{"TRACES = {'a': {'b': ()}}", "a route is a tuple of pairs, and here is a string"},
		{"TRACES = {'a': {(1,): ()}}", "and this is no pair"},
		{"TRACES = {'a': {(): {}}}", "a trace is a tuple of events, and here is a dictionary"},
		{"TRACES = {'a': {\n (): (('B',),)}}", "line 2, column 7: an event has the tag \"B\", which no trace knows"},
		{"TRACES = {'a': {(): (('A', 1),)}}", "has another number of parts"},
		{"TRACES = {'a': {(): ((')', 1),)}}", "has another number of parts"},
		{"TRACES = {'a': {(): ((),)}}", "an event is a tuple that begins with"},
		{"TRACES = {'a': {(): ((1,),)}}", "an event begins with a string, and here is an integer"},
		{"TRACES = {'a': {(): (('A', 1.5, 1, 4, False),)}}", "an integer is expected, and here is a float"},
		{"TRACES = {'a': {(): (('A', 1, 1, 0, False),)}}", "an item has less than 1 byte"},
		{"UNITS = {'a': {(): {'fixed': -1}}}", "a number of bytes is negative"},
		{"UNITS = {'a': {(): {'fixed': 'x'}}}", "an integer is expected, and here is a string"},
		{"DENSITIES = {'a': {}}", "a density has no structural bytes"},
		{"DENSITIES = {'a': {'structural': ()}}", "a dictionary by route is expected, and here is a tuple"},
		{"TRACES = {}\nDENSITY_SAFETY = 'a lot'", "line 2, column 18: a number is expected, and here is a string"},
		{"TRACES = {}\nALGAN_VERSION = ()", "a string is expected, and here is a tuple"},
	} {
		_, err := ReadModule(strings.NewReader(test.module))
		var malformed *MalformedError
		if !errors.As(err, &malformed) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.module, err, test.want)
		}
	}
	var none *NotCalibrationError
	if _, err := ReadModule(strings.NewReader("X = 1\n")); !errors.As(err, &none) {
		t.Errorf("a module without tables: %v", err)
	}
	for _, text := range []string{"[]", `{"fingerprint": null}`} {
		if _, err := ReadProbe(strings.NewReader(text)); !errors.As(err, &none) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestProbeWithAKeyOfItsOwn(t *testing.T) {
	costs, err := ReadProbe(strings.NewReader(`{"fingerprint": null, "key": "run(1)", "trace": []}`))
	if err != nil || len(costs.Problems) != 1 || costs.Scopes[0].Route[0].Value != "run(1)" || costs.Fingerprint != "" {
		t.Fatalf("%+v, %v", costs, err)
	}
}

// largeModule is a module of the length of algan's.
func largeModule() []byte {
	var text bytes.Buffer
	text.WriteString("TRACES = {\n    'postprocess': {\n")
	for route := range 60 {
		text.WriteString("        (('chain', 'glow()[]'), ('height', 270), ('width', " + strings.Repeat("1", route%5+1) + "), ('n', " + strings.Repeat("2", route%12+1) + ")): (\n")
		for range 12 {
			text.WriteString("            ('A', 0, 388800, 4, False),\n            ('(', False),\n            ('A', 3, 0, 4, False),\n            (')',),\n")
		}
		text.WriteString("        ),\n")
	}
	text.WriteString("    },\n}\n")
	return text.Bytes()
}

func BenchmarkModule(b *testing.B) {
	module := largeModule()
	b.SetBytes(int64(len(module)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadModule(bytes.NewReader(module)); err != nil {
			b.Fatal(err)
		}
	}
}
