package torchsnap

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// asJSON writes a value of a snapshot as Python's json.dumps would.
func asJSON(out *bytes.Buffer, v any, space string) {
	list := func(open, end byte, items []any) {
		out.WriteByte(open)
		for i, item := range items {
			if i > 0 {
				out.WriteString("," + space)
			}
			asJSON(out, item, space)
		}
		out.WriteByte(end)
	}
	switch v := v.(type) {
	case *text:
		quoted, err := json.Marshal(v.string)
		if err != nil {
			panic(err)
		}
		out.Write(quoted)
	case *sequence:
		list('[', ']', v.items)
	case *tuple:
		list('[', ']', v.items)
	case *dictionary:
		out.WriteByte('{')
		for i := 0; i < len(v.pairs); i += 2 {
			if i > 0 {
				out.WriteString("," + space)
			}
			asJSON(out, v.pairs[i], space)
			out.WriteString(":" + space)
			asJSON(out, v.pairs[i+1], space)
		}
		out.WriteByte('}')
	case nil:
		out.WriteString("null")
	default:
		fmt.Fprint(out, v)
	}
}

// TestJSONGivesWhatAPickleGives draws snapshots and reads them from JSON.
func TestJSONGivesWhatAPickleGives(t *testing.T) {
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 2))
		d := drawSnapshot(random, random.IntN(300), seed%3 == 0)
		var content bytes.Buffer
		asJSON(&content, d.top, []string{"", " ", "\n\t "}[seed%3])
		dump, err := Read(&content, Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if dump.Format != "PyTorch memory snapshot, JSON" {
			t.Errorf("format %q", dump.Format)
		}
		got := plain(dump)
		got.Problems = nil
		if diff := difference(d.want, got); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

// TestJSONValues reads numbers and strings as they are written.
func TestJSONValues(t *testing.T) {
	for written, want := range map[string]string{
		`0`: "0", `-12`: "-12", `18446744073709551615`: "18446744073709551615", `9223372036854775807`: "9223372036854775807",
		`-9223372036854775808`: "-9223372036854775808", `1.5`: "1.5", `1e3`: "1000", `2.0`: "2", `1e400`: "+Inf", `NaN`: "NaN",
		`-Infinity`: "-Inf", `true`: "true", `false`: "false", `null`: "", `""`: "", `"a\"b\\\/"`: `a"b\/`,
		`"\u00e9\ud83d\ude00\ud83d!"`: "é😀\ufffd!", `"a\nb\tc"`: "a b c", `"\u001b[31m"`: "\ufffd[31m", `"\u202e"`: "\ufffd",
	} {
		content := fmt.Sprintf(`{"segments":[],"allocator_settings":{"x":%s}}`, written)
		dump, err := Read(strings.NewReader(content), Options{})
		if err != nil {
			t.Errorf("%s: %v", written, err)
			continue
		}
		if got := dump.Settings[0].Value; got != want {
			t.Errorf("%s: got %q, want %q", written, got, want)
		}
	}
}

// TestMalformedJSON is declined with the place, unless something was read.
func TestMalformedJSON(t *testing.T) {
	for _, content := range []string{
		`{`, `{"segments"`, `{"segments" []}`, `{segments:[]}`, `{"segments":[}`, `[1,2`, `[,]`, `{"a":tru}`, `{"a":-}`,
		`{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":1e}`, `{"a":01x}`, `{"a":[[]}`, strings.Repeat("[", 1000), `{"a":` + strings.Repeat("1", 100) + `}`,
		`{"a":{}}`, `[1]`, `{"a":"`, `{"a":"\`, `{"a":"\u12`, `{"traceEvents":[]}`,
	} {
		dump, err := Read(strings.NewReader(content), Options{})
		if err == nil {
			t.Errorf("%.40s: opened as %+v", content, plain(dump))
			continue
		}
		checkSentence(t, err)
	}
}
