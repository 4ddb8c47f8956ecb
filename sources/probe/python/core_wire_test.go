package python_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// output runs a script beside the joined module, without starting the probe,
// and is what it printed.
func output(t *testing.T, script string) []byte {
	t.Helper()
	command := exec.Command(pythontest.Interpreter(t), "-c", "import sys\nimport vramscope_probe as probe\n"+script)
	command.Dir = pythontest.Module(t) // first in its path
	command.Env = append(os.Environ(), "VRAMSCOPE_PROBE=0")
	var errors bytes.Buffer
	command.Stderr = &errors
	out, err := command.Output()
	if err != nil || errors.Len() > 0 {
		t.Fatalf("%v: %s", err, errors.Bytes())
	}
	return out
}

// Whatever an adapter hands in, the line is one that the decoder reads.
func TestAnyRecordIsALineThatTheDecoderReads(t *testing.T) {
	for _, c := range []struct{ name, python string }{
		{"infinite floats", `{"t": "state", "nonarena": [], "x": [float("inf"), -float("inf"), float("nan")]}`},
		{"lone surrogates", `{"t": "note", "text": "a\ud800b\udfff \u2028 \x00 \x1b[2J"}`},
		{"a surrogate beside a number without end", `{"t": "note", "text": "\ud800", "y": 10**30}`},
		{"numbers beyond 64 bits", `{"t": "s", "ns": 1, "sets": [{"id": "a", "of": "pool", "c": {"limit": 2**64 - 1, "reserved": -2**70, "total": 2**63 - 1}}]}`},
		{"a column beyond 64 bits", `{"t": "ev", "ns": 1, "arena": 1, "dns": [0, 0], "op": [2, 2], "n": [2**64, 5]}`},
		{"objects of other types", `{"t": "note", "text": "x", "y": object(), "z": {1, 2}, "b": b"bytes"}`},
		{"keys of other types", `{"t": "note", "text": "x", (1, 2): 3, 7: "seven", None: 4, "y": {(1,): 2}}`},
		{"a text that looks like a long number", `{"t": "note", "text": "1234567890123456789012345"}`},
		{"enumerations and booleans", `{"t": "s", "ns": 1, "seq": True, "sets": [{"id": "a", "of": "pool", "c": {}, "why": {"a": "b"}}]}`},
		{"deep nesting", `{"t": "note", "text": "x", "y": deep}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			line := output(t, "deep = []\nfor _ in range(100_000): deep = [deep]\nsys.stdout.buffer.write(probe.encode_record("+c.python+"))\nsys.stdout.flush()\nimport os; os._exit(0)")
			record, err := recorder.DecodeLine(line)
			if c.name == "enumerations and booleans" { // the only one that is wrong: a boolean is no number
				if err == nil {
					t.Errorf("%s was read as %+v", line, record)
				}
				return
			}
			if err != nil || bytes.Count(line, []byte("\n")) != 1 {
				t.Fatalf("%s is no line: %v", line, err)
			}
			if s, ok := record.(*recorder.Sample); ok {
				_, limit := s.Sets[0].Values.Get(recorder.Limit)
				total, _ := s.Sets[0].Values.Get(recorder.Total)
				if limit || total != math.MaxInt64 {
					t.Errorf("%s: a number that cannot be written is known, or one that can is not", line)
				}
			}
			if note, ok := record.(*recorder.Note); ok && c.name == "a text that looks like a long number" && note.Text != "1234567890123456789012345" {
				t.Errorf("the text became %q", note.Text)
			}
		})
	}
}

func TestParametersAreWrittenByTheirTypes(t *testing.T) {
	line := output(t, `
tree = {"up": [-1], "name": [1], "n": [1], "params": [{"row": 0, "p": {"i": 3, "f": 3.0, "e": 1e30, "up": float("inf"), "down": -float("inf"), "no": float("nan"), "s": "x", "b": True}}]}
sys.stdout.buffer.write(probe.encode_state({"t": "state", "ns": 1, "arenas": [{"id": 1, "name": "a", "len": 8, "f": 0, "r": 8, "hw": 0, "managed": False, "buf": False, "tree": tree}]})[0])`)
	record, err := recorder.DecodeLine(line)
	if err != nil {
		t.Fatal(err)
	}
	params := record.(*recorder.State).Arenas[0].Tree.Params[0].Params
	got := map[string]arena.Param{}
	for _, p := range params {
		got[p.Name] = p
	}
	for name, want := range map[string]string{"i": "3", "f": "3", "e": "1e+30", "up": "+Inf", "down": "-Inf", "s": "x", "b": "true"} {
		p, known := got[name]
		if !known || !strings.Contains(fmt.Sprint(p), want) {
			t.Errorf("%s is %+v, want %s", name, p, want)
		}
	}
}

// A state that no line holds is cut into parts that the joiner makes whole
// again, row by row.
func TestALargeStateComesInParts(t *testing.T) {
	const rows, blocks, params = 60_000, 50_000, 3_000
	out := output(t, fmt.Sprintf(`
rows, blocks, params = %d, %d, %d
big = 2**62
tree = {"up": [i - 1 for i in range(rows)], "name": [i %% 7 for i in range(rows)], "n": [big + i for i in range(rows)], "p": [i for i in range(rows)],
        "params": [{"row": i, "p": {"text": "x" * 1000}} for i in range(params)]}
state = {"t": "state", "src": "pid:1-1", "ns": 5, "frame": 9, "rec": True, "dropped": 3,
         "arenas": [{"id": 1, "name": "small", "len": 8, "f": 0, "r": 8, "hw": 0, "managed": True, "buf": True, "tree": {}},
                    {"id": 2, "name": "large", "len": 9, "f": 1, "r": 8, "hw": 2, "managed": True, "buf": True, "marks": list(range(rows)),
                     "tree": tree, "abandoned": {"up": [-1] * rows, "name": [3] * rows, "n": [1] * rows}}],
         "pools": [{"id": 1, "name": "p", "tier": "B", "gen": 2, "blk": {"a": [hex(i * 512) for i in range(blocks)], "n": [512] * blocks},
                    "seg": {"a": ["0x10"], "n": [7]}, "gens": [{"gen": i, "ns": 1, "peak": 2, "bytes": 3, "count": 4, "size": 5} for i in range(blocks)]}],
         "nonarena": [{"name": "n%%d" %% i, "in": 1, "peak": 2} for i in range(blocks)]}
for line in probe.encode_state(state):
    sys.stdout.buffer.write(line)`, rows, blocks, params))
	decoder := recorder.NewDecoder(bytes.NewReader(out))
	joiner := &recorder.StateJoiner{}
	var whole *recorder.State
	parts := 0
	for {
		record, err := decoder.Next()
		if err != nil {
			break
		}
		parts++
		if whole, err = joiner.Add(record.(*recorder.State)); err != nil {
			t.Fatal(err)
		}
		if whole != nil && len(out) == 0 {
			t.Fatal("whole too early")
		}
	}
	pythontest.CheckDecoder(t, decoder)
	if whole == nil || parts < 4 {
		t.Fatalf("%d parts make no state", parts)
	}
	if len(whole.Arenas) != 2 || len(whole.Pools) != 1 || len(whole.NonArena) != blocks || *whole.Frame != 9 || !whole.Recording || whole.Dropped != 3 {
		t.Fatalf("the whole state has %d arenas, %d pools, %d transients", len(whole.Arenas), len(whole.Pools), len(whole.NonArena))
	}
	large, pool := &whole.Arenas[1], &whole.Pools[0]
	if large.Name != "large" || len(large.Marks) != rows || len(large.Tree.Parent) != rows || len(large.Tree.Params) != params ||
		len(large.Abandoned.Parent) != rows || len(pool.Blocks.Address) != blocks || len(pool.Generations) != blocks || len(pool.Segments.Address) != 1 {
		t.Fatal("rows are missing")
	}
	for i := range rows {
		if large.Marks[i] != int64(i) || large.Tree.Parent[i] != int32(i)-1 || large.Tree.Count[i] != 1<<62+int64(i) || large.Tree.Peak[i] != int64(i) {
			t.Fatalf("row %d is out of place", i)
		}
	}
	for i := range params {
		if large.Tree.Params[i].Row != int32(i) {
			t.Fatalf("parameters %d are out of place", i)
		}
	}
}

func TestManyStringsComeInLines(t *testing.T) {
	out := output(t, `
texts = ["\u00e9\x01" * (i % 3000) + str(i) for i in range(3000)]
for line in probe.encode_strings("pid:1-1", 5, 1, texts):
    sys.stdout.buffer.write(line)`)
	decoder := recorder.NewDecoder(bytes.NewReader(out))
	table := recorder.StringTable{}
	lines := 0
	for {
		record, err := decoder.Next()
		if err != nil {
			break
		}
		lines++
		if err := table.Add(record.(*recorder.Strings)); err != nil {
			t.Fatal(err)
		}
	}
	pythontest.CheckDecoder(t, decoder)
	if lines < 5 || table.Len() != 3000 {
		t.Fatalf("%d strings came in %d lines", table.Len(), lines)
	}
	for i := range uint32(3000) {
		if want := strings.Repeat("\u00e9\x01", int(i%3000)) + fmt.Sprint(i); table.String(i+1) != want {
			t.Fatalf("string %d is wrong", i+1)
		}
	}
}

// An answer is told however long its lines are.
func TestALongAnswerIsTold(t *testing.T) {
	out := output(t, `
ack = {"t": "ack", "src": "pid:1-1", "ns": 5, "id": "a", "cmd": "reclaim", "st": "done", "took": 7,
       "result": [{"what": "x" * 500}] * 3000, "before": [{"id": "a", "of": "pool", "c": {}}], "after": []}
sys.stdout.buffer.write(probe.encode_ack(ack))
ack["result"], ack["before"] = [{"what": "few"}], [{"id": "y" * 100, "of": "pool", "c": {}}] * 20000
sys.stdout.buffer.write(probe.encode_ack(ack))`)
	decoder := recorder.NewDecoder(bytes.NewReader(out))
	for _, lines := range []int{0, 1} {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ack := record.(*recorder.Ack); ack.State != "done" || ack.Took != 7 || len(ack.Result) != lines || len(ack.Before) != 0 {
			t.Errorf("the answer has %d lines: %s %d", len(ack.Result), ack.State, ack.Took)
		}
	}
	pythontest.CheckDecoder(t, decoder)
}

// The last minutes take no more than their bounds.
func TestTheBacklogIsBounded(t *testing.T) {
	out := output(t, `
b = probe.Backlog()
most = 0
for i in range(20_000):
    b.add(b"x" * 1000, i)
    most = max(most, b.bytes, sum(map(len, b.copy())) if i % 1000 == 0 else 0)
print(most <= 4 << 20, b.bytes == sum(map(len, b.copy())), len(b.copy()))
b.add(b"y" * 10, 20_000 + 5 * 60 * 10**9)
print(len(b.copy()), b.bytes)
b.add(b"z" * (5 << 20), 20_001 + 5 * 60 * 10**9)
print(len(b.copy()), b.bytes)`)
	scanner := bufio.NewScanner(bytes.NewReader(out))
	for _, want := range []string{"True True 4194", "1 10", "0 0"} {
		if scanner.Scan(); scanner.Text() != want {
			t.Errorf("the backlog says %q, want %q", scanner.Text(), want)
		}
	}
}
