package python_test

import (
	"bytes"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// A sample whose sets were put into words before says what its record says.
func TestASampleMadeOfWordsIsItsRecord(t *testing.T) {
	out := output(t, `
import json
set_of = probe.counter_set
plain = set_of("torch:0", "pool", "100 % \"torch\" \u2028 \u00fc", "GPU-1", "a call", {}, "default-pool:0", {"largest_free": "50 %d of it"})
face = probe.Face(plain)
bare = probe.Face(set_of("torch:1", "pool", "", "", "", {}))

def sample(*counters, **more):
    out = probe.Sets()
    for each in counters:
        out.fill(face, each)
        out.fill(bare, {})
    return dict({"t": "s", "src": "pid:1-2", "ns": 3, "seq": 4, "sets": out.sets}, **more)

mixed = sample({"reserved": 1})
mixed["sets"].append(plain)
for name, record in (("counters", sample({"reserved": 5, "allocated": 2**63 - 1, "free": -2**63})),
                     ("other counters of the same set", sample({"reserved": 5}, {"allocated": 6}, {"reserved": 7})),
                     ("no set", sample()),
                     ("beside a set without words", mixed),
                     ("with trouble", sample({"reserved": 5}, err="an error")),
                     ("beyond 64 bits", sample({"reserved": 2**64})),
                     ("a wide one", sample(*[{"reserved": i} for i in range(10_000)]))):
    got, want = probe.encode_sample(record), probe.encode_record(record)
    assert got == want or json.loads(got) == json.loads(want), (name, got, want)
    assert (got is None) == (name == "a wide one"), name
    for dropped in (1, 2**40):
        if got is not None:
            longer = probe.with_dropped(got, dropped)
            assert longer.endswith(b"\n") and json.loads(longer) == dict(json.loads(got), drop=dropped), longer
full = b'{"t":"s"' + b" " * ((1 << 20) - 9) + b"}\n"
assert probe.with_dropped(full, 1) == full
print("held")`)
	if !bytes.Equal(out, []byte("held\n")) {
		t.Errorf("the script said %q", out)
	}
}

// What a library has is looked for once a second; its module, and a pool that
// holds something, are seen in between, and so is that a library has gone.
func TestWhatIsThereIsLookedForSeldomAndSeenAtOnce(t *testing.T) {
	out := output(t, `
import types
class Late(probe.Adapter):
    name = module = "late_library"
    looks = 0
    def library(self):
        self.looks += 1
        return super().library()
    def sample(self, out):
        out.add("late:0", "pool", "late", "", "", {"reserved": self.library().reserved})
    def drain(self, publish):
        publish({"t": "note", "text": "drained"})

late = probe.register(Late())
sampler = probe.Sampler("pid:1-2")
def seen(look):
    return [entry["c"]["reserved"] for entry in sampler.sample(look)["sets"] if entry["id"] == "late:0"]
def drained():
    notes = []
    sampler.drain(notes.append)
    return len([note for note in notes if note["t"] == "note"])

print(seen(True), drained())
before = late.looks
for _ in range(100):
    seen(False), drained()
print(late.looks - before)
sys.modules["late_library"] = types.SimpleNamespace(reserved=5)
print(drained(), seen(False))
del sys.modules["late_library"]
print(seen(False), sampler.mistakes)
print(drained(), seen(False), seen(True))`)
	want := "[] 0\n0\n1 [5]\n[] 0\n0 [] []\n"
	if string(out) != want {
		t.Errorf("the script said %q, want %q", out, want)
	}
}

// A process in which no library has memory tells its resident set once a second,
// and more as often as it is to once there is some.
func TestSamplesWithoutASetAreSeldom(t *testing.T) {
	p := pythontest.Start(t, waiting)
	p.Line()
	r := pythontest.Read(t, p.Path(), true)
	before := pythontest.Next[*recorder.Sample](r)
	for range 2 {
		sample := pythontest.Next[*recorder.Sample](r)
		if apart := sample.Ns - before.Ns; len(sample.Sets) != 1 || apart < 900_000_000 {
			t.Errorf("%d ns after the one before it came a sample with %d sets", apart, len(sample.Sets))
		}
		before = sample
	}
	resident := before.Sets[0]
	if used, known := resident.Values.Get(recorder.Resident); resident.Of != recorder.OfProcess || resident.Device != "host" ||
		!known || used < 1<<20 || used > 1<<30 {
		t.Errorf("the process's own memory is %+v", resident)
	}
	// Fewer are sent, not made: a program may get memory and die of it at once.
	p.Say("service = vramscope_probe.SESSION.service; print(service._next_sample() - service._sampled == service._period)")
	if line := p.Line(); line != "True" {
		t.Errorf("whether the next sample is due as if there were memory: %s", line)
	}
	p.Say("handle = vramscope_probe.arena('arena', length=100, pointers=lambda: (0, 100))")
	filled := pythontest.NextWhere(r, func(sample *recorder.Sample) bool { return len(sample.Sets) > 1 })
	next := pythontest.NextWhere(r, func(sample *recorder.Sample) bool { return sample.Seq == filled.Seq+1 })
	if next.Ns-filled.Ns < 50_000_000 {
		t.Errorf("samples with a set are %d ns apart", next.Ns-filled.Ns)
	}
	p.Quiet()
}
