package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vramscope/arena"
)

func mustLine(t interface{ Fatal(...any) }, record Record) string {
	line, err := AppendLine(nil, record)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

var sameRecord = cmp.AllowUnexported(Counters{})

func TestEveryRecordComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := randomRecord(t)
		line := mustLine(t, record)
		if !json.Valid([]byte(line)) || strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
			t.Fatalf("not one line of JSON: %q", line)
		}
		back, err := DecodeLine([]byte(line))
		if err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		if diff := cmp.Diff(record, back, sameRecord); diff != "" {
			t.Fatalf("(-written +read):\n%s\n%s", diff, line)
		}
		if again := mustLine(t, back); again != line {
			t.Fatalf("written again:\n%s\nat first:\n%s", again, line)
		}
	})
}

func TestFloatsStayFloats(t *testing.T) {
	for _, value := range []float64{0, 1, -1, 3, 0.5, 1e21, 1e-9, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 53} {
		batch := &ArenaEvents{}
		batch.Append(&ArenaEvent{Op: arena.OpScopeOpen, Params: []arena.Param{arena.Float("x", value), arena.Int("y", 3)}})
		back, err := DecodeLine([]byte(mustLine(t, batch)))
		if err != nil {
			t.Fatal(err)
		}
		params := back.(*ArenaEvents).Params[0].Params
		if params[0].Kind != arena.ParamFloat || params[0].Float != value && !(math.IsNaN(value) && math.IsNaN(params[0].Float)) {
			t.Errorf("%v came back as %+v", value, params[0])
		}
		if params[1] != arena.Int("y", 3) {
			t.Errorf("an integer came back as %+v", params[1])
		}
	}
}

func TestReadersTakeWhatWritersMayWrite(t *testing.T) {
	for line, want := range map[string]Record{
		`{"n":7,"ns":5,"src":"a","t":"frame"}`:                                  &Frame{Head: Head{Src: "a", Ns: 5}, N: 7},
		` { "t" : "frame" , "n" : -7 } ` + "\r\n":                               &Frame{N: -7},
		`{"t":"frame","n":1,"n":2,"new":[{"x":[1,null,true,"\"]"]},1.5e3]}`:     &Frame{N: 2},
		`{"t":"frame","n":null}`:                                                &Frame{},
		`{"t":"note","text":"\u00e9\ud83d\ude00\ud83d\n\/"}`:                    &Note{Text: "é😀\uFFFD\n/"},
		"{\"t\":\"note\",\"text\":\"a\xffb\"}":                                  &Note{Text: "a\uFFFDb"},
		`{"t":"want","ev":true,"t":"frame"}`:                                    &Want{Events: true},
		`{"t":"str","first":3,"s":["a","","b"]}`:                                &Strings{First: 3, Strings: []string{"a", "", "b"}},
		`{"t":"s","sets":[{"id":"x","of":"pool","c":{"new":{},"free":null}}]}`:  &Sample{Sets: []CounterSet{{ID: "x", Of: "pool"}}},
		`{"t":"s","sets":[]}`:                                                   &Sample{},
		`{"t":"cmd","id":"1","cmd":"reclaim","args":{"new":1},"args":{}}`:       &Command{ID: "1", Name: "reclaim"},
		`{"t":"hello","proto":99,"min":1}`:                                      &Hello{Proto: 99, Min: 1},
		`{"t":"oom","id":"a","asked":-9223372036854775808,"rescued":false}`:     &OOM{ID: "a", Asked: math.MinInt64},
		`{"t":"state","pools":[{"id":1,"seg":{"a":["0x1","0x2"]},"blk":null}]}`: &State{Pools: []PoolState{{ID: 1, Segments: SegmentColumns{Address: []string{"0x1", "0x2"}, Bytes: []int64{0, 0}}}}},
	} {
		got, err := DecodeLine([]byte(line))
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if diff := cmp.Diff(want, got, sameRecord); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

func TestBadLines(t *testing.T) {
	deep := strings.Repeat("[", 100000)
	for _, line := range []string{
		``, `x`, `{`, `{}`, `[]`, `null`, `"t"`, `{"t":1}`, `{"t":"frame"`, `{"t":"frame"}x`, `{"t":"frame"}{}`, `{"t":"frame",}`, `{,"t":"frame"}`,
		`{"t":"frame" "n":1}`, `{"t":"frame","n":}`, `{"t":"frame","n":1.0}`, `{"t":"frame","n":1e3}`, `{"t":"frame","n":01}`, `{"t":"frame","n":"1"}`,
		`{"t":"frame","n":9223372036854775808}`, `{"t":"frame","n":99999999999999999999}`, `{"t":"frame","n":-}`, `{"t":"frame","n":--1}`, `{"t":"frame","n":+1}`,
		`{"t":"note","text":"` + "\x01" + `"}`, `{"t":"note","text":"\x"}`, `{"t":"note","text":"\u12"}`, `{"t":"note","text":"`, `{"t":"note","text":"\"}`, `{"t":"note","text":1}`,
		`{"t":"frame","new":` + deep, `{"t":"frame","new":` + strings.Repeat(`{"a":`, 100), `{"t":"frame","new":tru}`, `{"t":"frame","new":nul}`, `{"t":"frame","new":1.}`, `{"t":"frame","new":[1,]}`,
		`{"t":"hello"}`, `{"t":"hello","proto":0,"min":0}`,
		`{"t":"ev","op":[1]}`, `{"t":"ev","arena":1,"pool":1,"op":[1]}`, `{"t":"ev","arena":1,"op":[1],"f":[1,2]}`, `{"t":"ev","arena":1,"f":[1]}`, `{"t":"ev","arena":1,"op":[256]}`,
		`{"t":"ev","arena":1,"op":[-1]}`, `{"t":"ev","arena":1,"op":[1],"x":[4294967296]}`, `{"t":"ev","arena":1,"op":[1],"x":[-1]}`, `{"t":"ev","arena":1,"op":[1],"sc":[-1]}`,
		`{"t":"ev","arena":1,"op":[1],"a":["0x1"]}`, `{"t":"ev","pool":1,"op":[20],"a":[1]}`, `{"t":"ev","pool":1,"op":[20],"a":["1f"]}`, `{"t":"ev","pool":1,"op":[20],"a":["0x"]}`,
		`{"t":"ev","pool":1,"op":[20],"a":["0x10000000000000000"]}`, `{"t":"ev","pool":1,"op":[20],"f":[1]}`, `{"t":"ev","arena":1,"op":[1,1],"dns":[1]}`, `{"t":"ev","arena":1,"op":[1,,1]}`,
		`{"t":"ev","arena":1,"op":[1],"pr":[[1,{}]]}`, `{"t":"ev","arena":1,"op":[1,1],"pr":[[1,{}],[0,{}]]}`, `{"t":"ev","arena":1,"op":[1],"pr":[[0]]}`, `{"t":"ev","arena":1,"op":[1],"pr":[[0,{},1]]}`,
		`{"t":"ev","arena":1,"op":[1`, `{"t":"ev","arena":1,"op":[`, `{"t":"ev","arena":1,"op":[1 2]}`, `{"t":"ev","arena":1,"op":1}`,
		`{"t":"state","arenas":[{"id":1,"tree":{"up":[-1],"n":[1,2]}}]}`, `{"t":"state","arenas":[{"id":1,"tree":{"n":[1]}}]}`, `{"t":"state","arenas":{}}`, `{"t":"state","rec":1}`,
	} {
		record, err := DecodeLine([]byte(line))
		var bad *LineError
		if !errors.As(err, &bad) {
			t.Errorf("%.80s: got %v, %v", line, record, err)
		}
	}
}

func TestUnknownTypesAndVersions(t *testing.T) {
	var unknown *UnknownTypeError
	if _, err := DecodeLine([]byte(`{"t":"hologram","depth":3}`)); !errors.As(err, &unknown) || unknown.Kind != "hologram" {
		t.Errorf("got %v", err)
	}
	var protocol *ProtocolError
	if _, err := DecodeLine([]byte(`{"t":"hello","proto":3,"min":2}`)); !errors.As(err, &protocol) || protocol.Min != 2 || protocol.Proto != 3 {
		t.Errorf("got %v", err)
	}
}

// No line takes more memory than a line may, however it tries.
func TestLinesCannotTakeMuchMemory(t *testing.T) {
	fill := func(head, element, tail string) string {
		n := (MaxLine - len(head) - len(tail)) / len(element)
		return head + strings.TrimSuffix(strings.Repeat(element, n), ",") + tail
	}
	for name, line := range map[string]string{
		"arenas":       fill(`{"t":"state","arenas":[`, `{},`, `]}`),
		"pools":        fill(`{"t":"state","pools":[`, `{},`, `]}`),
		"rows":         fill(`{"t":"state","arenas":[{"tree":{"up":[`, `0,`, `]}}]}`),
		"addresses":    fill(`{"t":"state","pools":[{"blk":{"a":[`, `"",`, `]}}]}`),
		"parameters":   fill(`{"t":"state","arenas":[{"tree":{"params":[{"p":{`, `"":1,`, `}}]}}]}`),
		"sets":         fill(`{"t":"s","sets":[`, `{},`, `]}`),
		"why":          fill(`{"t":"s","sets":[{"why":{`, `"a":"",`, `}}]}`),
		"ack sets":     fill(`{"t":"ack","before":[`, `{},`, `]}`),
		"events":       fill(`{"t":"ev","arena":1,"op":[`, `2,`, `]}`),
		"event params": fill(`{"t":"ev","arena":1,"op":[6],"pr":[[0,{`, `"":1,`, `}]]}`),
		"strings":      fill(`{"t":"str","s":[`, `"",`, `]}`),
		"steps":        fill(`{"t":"oom","steps":[`, `{},`, `]}`),
		"escapes":      fill(`{"t":"note","text":"`, `\n`, `"}`),
		"gpus":         fill(`{"t":"hello","proto":1,"gpus":[`, `{},`, `]}`),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			DecodeLine([]byte(line))
			runtime.ReadMemStats(&after)
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 2*lineMemory+8*MaxLine {
				t.Errorf("a line of %d bytes takes %d", len(line), taken)
			}
		})
	}
}

func TestTooLongRecordsAreNotWritten(t *testing.T) {
	before := []byte("before")
	buf, err := AppendLine(before, &Note{Text: strings.Repeat("x", MaxLine)})
	var long *LineTooLongError
	if !errors.As(err, &long) || long.Kind != "note" || string(buf) != "before" {
		t.Errorf("got %q, %v", buf, err)
	}
	text := strings.Repeat("x", MaxLine-len(`{"t":"note","text":""}`))
	buf, err = AppendLine(nil, &Note{Text: text})
	if err != nil || len(buf) != MaxLine+1 {
		t.Errorf("the longest line has %d bytes, %v", len(buf), err)
	}
	if record, err := DecodeLine(buf); err != nil || record.(*Note).Text != text {
		t.Errorf("it cannot be read: %v", err)
	}
	var columns *ColumnsError
	if _, err := AppendLine(nil, &ArenaEvents{Op: make([]arena.Op, 2)}); !errors.As(err, &columns) {
		t.Errorf("unequal columns: %v", err)
	}
	if _, err := AppendLine(nil, &PoolEvents{Ns: make([]int64, 2)}); !errors.As(err, &columns) {
		t.Errorf("unequal columns: %v", err)
	}
}

// The largest batch that the limits allow fits on a line, whatever it holds.
func TestLargestBatchFits(t *testing.T) {
	batch := &ArenaEvents{Head: Head{Src: strings.Repeat("s", 100)}, Arena: math.MinInt64, Frame: math.MinInt64}
	ns, size := int64(math.MinInt64), 0
	for i := range MaxBatch {
		ns = -ns - 1
		event := &ArenaEvent{
			Ns: ns, Frame: math.MinInt64, Op: 255, Flags: 255, Bytes: math.MinInt64, ItemSize: math.MinInt64, Forward: math.MinInt64,
			Reverse: math.MinInt64, Scope: math.MaxUint64, Text: math.MaxUint32, DType: math.MaxUint32,
		}
		if i == 0 || size < MaxBatchParams {
			for range MaxParams {
				event.Params = append(event.Params, arena.Text(strings.Repeat("\x00", MaxParamName), strings.Repeat("\x00", MaxParamText)))
			}
			size += paramsWireBound(event.Params)
		}
		batch.Append(event)
	}
	if line := mustLine(t, batch); len(line) > MaxLine {
		t.Errorf("%d bytes", len(line))
	}
}

func readAll(t interface{ Fatalf(string, ...any) }, d *Decoder) []Record {
	var records []Record
	for {
		record, err := d.Next()
		if err == io.EOF {
			return records
		}
		if err != nil {
			t.Fatalf("after %d records: %v", len(records), err)
		}
		records = append(records, record)
	}
}

func TestDecoderReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var want []Record
		for range rapid.IntRange(0, 10).Draw(t, "records") {
			record := randomRecord(t)
			want = append(want, record)
			stream = append(stream, mustLine(t, record)...)
		}
		for name, input := range map[string]io.Reader{
			"whole": bytes.NewReader(stream), "byte by byte": iotest.OneByteReader(bytes.NewReader(stream)),
			"end with the last bytes": iotest.DataErrReader(bytes.NewReader(stream)),
		} {
			decoder := NewDecoder(input)
			if diff := cmp.Diff(want, readAll(t, decoder), sameRecord); diff != "" {
				t.Fatalf("%s: %+v (-want +got):\n%s", name, decoder.Problems(), diff)
			}
			if p := decoder.Problems(); p.BadLines+p.LongLines+p.Unknown+p.CutBytes != 0 || p.Records != int64(len(want)) || decoder.Offset() != int64(len(stream)) {
				t.Fatalf("%s: %+v", name, p)
			}
		}
	})
}

func TestDecoderSkipsAndCounts(t *testing.T) {
	stream := `{"t":"frame","ns":5,"n":1}` + "\n\n" + `rubbish` + "\n" + `{"t":"hologram"}` + "\r\n" +
		strings.Repeat("x", 3*MaxLine) + "\n" + `{"t":"frame","n":2}` + "\n" + strings.Repeat("y", MaxLine+1) + "\n" + `{"t":"frame","n":3`
	for _, input := range []io.Reader{strings.NewReader(stream), iotest.HalfReader(strings.NewReader(stream))} {
		decoder := NewDecoder(input)
		records := readAll(t, decoder)
		if len(records) != 2 || records[0].(*Frame).N != 1 || records[1].(*Frame).N != 2 {
			t.Fatalf("read %v", records)
		}
		p := decoder.Problems()
		if p.BadLines != 1 || p.LongLines != 2 || p.Unknown != 1 || p.LastNs != 5 || p.Records != 2 || p.CutBytes != int64(len(`{"t":"frame","n":3`)) {
			t.Errorf("%+v", p)
		}
		if len(p.First) != 3 || p.First[0].Offset != int64(strings.Index(stream, "rubbish")) || p.First[1].Offset != int64(strings.Index(stream, "xxx")) {
			t.Errorf("first problems: %+v", p.First)
		}
	}
}

func TestDecoderKeepsTheFirstProblemsOnly(t *testing.T) {
	decoder := NewDecoder(strings.NewReader(strings.Repeat("rubbish\n", 1000)))
	readAll(t, decoder)
	if p := decoder.Problems(); p.BadLines != 1000 || len(p.First) != maxProblems {
		t.Errorf("%d bad lines, %d kept", p.BadLines, len(p.First))
	}
}

func TestDecoderRefusesANewerFormat(t *testing.T) {
	decoder := NewDecoder(strings.NewReader(`{"t":"hello","proto":2,"min":2}` + "\n" + `{"t":"frame","n":1}` + "\n"))
	for range 2 {
		var protocol *ProtocolError
		if _, err := decoder.Next(); !errors.As(err, &protocol) {
			t.Fatalf("got %v", err)
		}
	}
}

// growing is a file that is still being written.
type growing struct{ bytes.Buffer }

func TestDecoderFollows(t *testing.T) {
	var file growing
	decoder := NewDecoder(&file)
	for _, step := range []struct {
		written string
		want    int
		cut     int64
	}{
		{"", 0, 0},
		{`{"t":"frame"`, 0, 12},
		{`,"n":1}`, 1, 0}, // whole, though its line feed is not there yet
		{"\n" + `{"t":"fra`, 0, 9},
		{`me","n":2}` + "\n" + `{"t":"frame","n":3}` + "\n", 2, 0},
		{`{"t":"note","text":"}`, 0, 21},
		{`"}` + "\n", 1, 0},
		{strings.Repeat("z", 2*MaxLine), 0, 2 * MaxLine},
		{"\n" + `{"t":"frame","n":4}`, 1, 0},
	} {
		file.WriteString(step.written)
		if records := readAll(t, decoder); len(records) != step.want {
			t.Fatalf("after %.40q: %d records, want %d", step.written, len(records), step.want)
		}
		if cut := decoder.Problems().CutBytes; cut != step.cut {
			t.Fatalf("after %.40q: %d bytes cut, want %d", step.written, cut, step.cut)
		}
	}
}

// A recording that is cut at any byte opens up to its last whole record.
func TestCutAnywhere(t *testing.T) {
	var stream []byte
	var ends []int
	for _, record := range exampleRecording() {
		stream = append(stream, mustLine(t, record)...)
		ends = append(ends, len(stream))
	}
	for cut := range len(stream) + 1 {
		whole := 0
		for whole < len(ends) && ends[whole]-1 <= cut {
			whole++
		}
		decoder := NewDecoder(bytes.NewReader(stream[:cut]))
		records := readAll(t, decoder)
		if len(records) != whole {
			t.Fatalf("cut at %d: %d records, want %d", cut, len(records), whole)
		}
		rest := int64(cut)
		if whole > 0 {
			rest = max(int64(cut-ends[whole-1]), 0)
		}
		if p := decoder.Problems(); p.BadLines != 0 || p.CutBytes != rest {
			t.Fatalf("cut at %d: %+v, want %d bytes cut", cut, p, rest)
		}
	}
}

// exampleRecording is a small recording with a record of every kind.
func exampleRecording() []Record {
	records := []Record{
		&Hello{Head: Head{Src: "pid:812", Ns: 1}, Proto: 1, Min: 1, Kind: KindProcess, Name: "render.py"},
		&Strings{Head: Head{Src: "pid:812", Ns: 1}, First: 1, Strings: []string{"render", "trace…"}},
		&State{Head: Head{Src: "pid:812", Ns: 2}},
	}
	batch := &ArenaEvents{Head: Head{Src: "pid:812"}, Arena: 1}
	workedTree(func(event ArenaEvent) { batch.Append(&event) })
	return append(records, batch, &Frame{Head: Head{Src: "pid:812", Ns: 900}, N: 1}, &Bye{Head: Head{Src: "pid:812", Ns: 1000}})
}

func FuzzDecodeLine(f *testing.F) {
	for _, example := range formatExamples(f) {
		f.Add([]byte(example))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		record, err := DecodeLine(line)
		if err != nil {
			if record != nil {
				t.Fatalf("a record and an error: %v", err)
			}
			return
		}
		if state, ok := record.(*State); ok {
			for i := range state.Arenas {
				if tree, err := LoadScopeTree(&state.Arenas[i], TreeLimits{Rows: 100}); err == nil {
					tree.Snapshot()
				}
			}
		}
		// What was read can be written, and reads the same.
		written, err := AppendLine(nil, record)
		if err != nil {
			return
		}
		if !json.Valid(written) {
			t.Fatalf("not JSON: %q", written)
		}
		back, err := DecodeLine(written)
		if err != nil {
			t.Fatalf("%v: %q", err, written)
		}
		again, err := AppendLine(nil, back)
		if err != nil || !bytes.Equal(written, again) {
			t.Fatalf("written\n%q\nand again\n%q, %v", written, again, err)
		}
	})
}

func FuzzDecoder(f *testing.F) {
	var stream []byte
	for _, record := range exampleRecording() {
		stream = append(stream, mustLine(f, record)...)
	}
	f.Add(stream)
	f.Add([]byte("{\"t\":\"ev\",\"arena\":1,\"op\":[6,2,12],\"sc\":[1,0,0]}\n\r\n{\"t\":"))
	f.Fuzz(func(t *testing.T, input []byte) {
		decoder := NewDecoder(iotest.HalfReader(bytes.NewReader(input)))
		tree, recorder := NewScopeTree(TreeLimits{Rows: 50, Depth: 8}), NewAllocationRecorder(RecorderLimits{Bytes: 1 << 20})
		for {
			record, err := decoder.Next()
			if err != nil {
				break
			}
			if batch, ok := record.(*ArenaEvents); ok {
				tree.ObserveBatch(batch)
				recorder.ObserveBatch(batch)
			}
		}
		tree.Snapshot()
		for scope := range recorder.Len() {
			recorder.Scope(scope)
			for range recorder.Events(scope) {
				break
			}
		}
	})
}

func TestRecordTypesAreAllRead(t *testing.T) {
	for _, record := range recordTypes() {
		if hello, ok := record.(*Hello); ok {
			hello.Proto = 1
		}
		back, err := DecodeLine([]byte(mustLine(t, record)))
		if err != nil || reflect.TypeOf(back) != reflect.TypeOf(record) {
			t.Errorf("%T came back as %T, %v", record, back, err)
		}
	}
}
