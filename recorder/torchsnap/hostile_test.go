package torchsnap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"

	"vramscope/recorder"
)

// checkSentence holds an error to what a terminal may be shown.
func checkSentence(t testing.TB, err error) {
	t.Helper()
	for _, r := range err.Error() {
		if !unicode.IsPrint(r) {
			t.Errorf("%q has the character %U", err, r)
		}
	}
	if len(err.Error()) > 1000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

func readBytes(content []byte) (*recorder.Dump, error) {
	return Read(bytes.NewReader(content), Options{Size: int64(len(content))})
}

// TestOpcodesThatCouldRunCodeAreRefused tries each opcode that imports, calls
// or reaches outside, at the start of a file and deep in one.
func TestOpcodesThatCouldRunCodeAreRefused(t *testing.T) {
	system := "\x8c\x05posix\x8c\x06system"
	deep := "\x80\x04}\x94(\x8c\x08segments\x94]\x94\x8c\x0ddevice_traces\x94]\x94]\x94(}\x94("
	for _, c := range []struct{ name, global, before, opcode string }{
		{"GLOBAL", "os.system", "", "cos\nsystem\n"},
		{"STACK_GLOBAL", "posix.system", system, "\x93"},
		{"INST", "os.system", "(", "ios\nsystem\n"},
		{"REDUCE", "", "]]", "R"},
		{"BUILD", "", "]]", "b"},
		{"OBJ", "", "(]", "o"},
		{"NEWOBJ", "", "]]", "\x81"},
		{"NEWOBJ_EX", "", "]]]", "\x92"},
		{"EXT1", "", "", "\x82\x01"},
		{"EXT2", "", "", "\x83\x01\x00"},
		{"EXT4", "", "", "\x84\x01\x00\x00\x00"},
		{"PERSID", "", "", "P1\n"},
		{"BINPERSID", "", "]", "Q"},
		{"GLOBAL", "numpy.core.multiarray.scalar", "", "cnumpy.core.multiarray\nscalar\n"},
		{"GLOBAL", "a?[31mb.c", "", "ca\x1b[31mb\nc\n"},
		{"GLOBAL", "", "", "cno end of line"},
		{"STACK_GLOBAL", "", "", "\x93"},
	} {
		for _, begin := range []string{"\x80\x04", "\x80\x02", deep} {
			content := begin + c.before + c.opcode + "."
			dump, err := readBytes([]byte(content))
			refusal, ok := errors.AsType[*RefusedError](err)
			if !ok {
				t.Errorf("%q: %v, %v", content, dump, err)
				continue
			}
			if refusal.Opcode != c.name || refusal.Global != c.global || refusal.Offset != int64(len(begin+c.before)) {
				t.Errorf("%q: %+v", content, refusal)
			}
			if !strings.Contains(err.Error(), "nothing was run") || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%q: %v", content, err)
			}
			checkSentence(t, err)
		}
	}
}

// TestProtocolsBelowTwo are declined with what to do, and a call in one by
// name.
func TestProtocolsBelowTwo(t *testing.T) {
	for _, content := range []string{"(dp0\nVsegments\np1\n(lp2\ns.", "}q\x00(X\x04\x00\x00\x00sizeq\x01L12L\nu."} {
		_, err := readBytes([]byte(content))
		if refusal, ok := errors.AsType[*RefusedError](err); !ok || !strings.Contains(err.Error(), "protocol 2 or later") {
			t.Errorf("%q: %v %v", content, refusal, err)
		}
	}
	_, err := readBytes([]byte("cos\nsystem\n(S'true'\ntR."))
	if refusal, ok := errors.AsType[*RefusedError](err); !ok || refusal.Global != "os.system" {
		t.Errorf("%v", err)
	}
}

// TestEveryOpcode is either executed, refused by name, or no opcode.
func TestEveryOpcode(t *testing.T) {
	for op := range 256 {
		if op == opStop {
			continue
		}
		content := append([]byte("\x80\x04]]]"), byte(op))
		_, err := readBytes(append(content, make([]byte, 64)...))
		if err == nil {
			t.Errorf("0x%02x: opened", op)
			continue
		}
		checkSentence(t, err)
		_, refusedByName := refused[byte(op)]
		if _, ok := errors.AsType[*RefusedError](err); ok != refusedByName {
			t.Errorf("0x%02x: %v", op, err)
		}
	}
}

// TestMalformedPickles are declined with the place.
func TestMalformedPickles(t *testing.T) {
	for name, content := range map[string]string{
		"nothing left":           ".",
		"fill what is not there": "e.",
		"append to a dictionary": "}]a.",
		"set in a list":          "]]]s.",
		"append to nothing":      "]a.",
		"a mark in between":      "](a.",
		"odd items":              "}(]u.",
		"odd dictionary":         "(]d.",
		"a tuple of nothing":     "\x87.",
		"a tuple over a mark":    "]]](\x87.",
		"recall of nothing":      "h\x05.",
		"recall of a gap":        "]]]]]]]]q\x07h\x05.",
		"remember nothing":       "\x94.",
		"remember a mark":        "](\x94.",
		"a memo of its own":      "]r\xff\xff\xff\x7f.",
		"ten bytes":              "\x8a\x0a\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a.",
		"nine bytes too many":    "\x8a\x09\x01\x02\x03\x04\x05\x06\x07\x08\x09.",
		"a long of 4 GB":         "\x8b\xff\xff\xff\xff.",
		"a string of 4 GB":       "X\xff\xff\xff\xff.",
		"a string of 2^63":       "\x8d\x00\x00\x00\x00\x00\x00\x00\x80.",
		"marks without end":      strings.Repeat("(", 1000),
		"lists in lists":         strings.Repeat("](", 1000),
		"no opcode":              "\xff.",
		"a number":               "K\x01.",
		"an empty dictionary":    "}.",
		"another's dictionary":   "}\x8c\x01a]s.",
	} {
		dump, err := readBytes([]byte("\x80\x04" + content))
		if err == nil {
			t.Errorf("%s: opened as %+v", name, plain(dump))
			continue
		}
		checkSentence(t, err)
		_, malformed := errors.AsType[*MalformedError](err)
		_, none := errors.AsType[*NotSnapshotError](err)
		if !malformed && !none {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// snapshotOf is a pickle with segments and traces that are written by hand.
func snapshotOf(segments, traces string) []byte {
	return []byte("\x80\x04}(\x8c\x08segments" + segments + "\x8c\x0ddevice_traces" + traces + "u.")
}

// TestSelfReferences ends, and gives what is not a circle.
func TestSelfReferences(t *testing.T) {
	event := "}(\x8c\x06action\x8c\x05alloc\x8c\x04sizeK\x08u"
	for name, content := range map[string][]byte{
		"a list in itself":                snapshotOf("]\x94h\x00a", "]"),
		"traces in themselves":            snapshotOf("]", "]\x94h\x00a"),
		"a dictionary in itself":          snapshotOf("]", "](]("+"}\x94(\x8c\x06action\x8c\x05alloc\x8c\x06framesh\x00\x8c\x0duser_metadatah\x00u"+"ee"),
		"frames in themselves":            snapshotOf("]", "](]("+"}(\x8c\x06action\x8c\x05alloc\x8c\x06frames]\x94h\x00au"+"ee"),
		"a segment of itself":             snapshotOf("](}\x94(\x8c\x06blocks]h\x00a\x8c\x0atotal_sizeK\x01ue", "]"),
		"an event twice":                  snapshotOf("]", "](]("+"}\x94"+event[1:]+"h\x00h\x00ee"),
		"a trace twice":                   snapshotOf("]", "](]\x94("+event+"eh\x00h\x00e"),
		"a segment twice":                 snapshotOf("](}\x94(\x8c\x06blocks]\x8c\x0atotal_sizeK\x01uh\x00h\x00e", "]"),
		"blocks in two segments":          snapshotOf("](}(\x8c\x06blocks]\x94(}(\x8c\x05state\x8c\x08inactive\x8c\x04sizeK\x08ue\x8c\x0atotal_sizeK\x08u}(\x8c\x06blocksh\x00\x8c\x0atotal_sizeK\x08ue", "]"),
		"a snapshot that is its segments": []byte("\x80\x04}\x94(\x8c\x08segments]h\x00au."),
	} {
		dump, err := readBytes(content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		events, segments, blocks := 0, 0, 0
		for _, d := range dump.Devices {
			events, segments, blocks = events+d.Events.Len(), segments+len(d.Segments), blocks+d.Blocks.Len()
		}
		if events > 1 || segments > 2 || blocks > 1 {
			t.Errorf("%s: %d events, %d segments, %d blocks: %v", name, events, segments, blocks, dump.Problems)
		}
	}
}

// TestFinishedValuesDoNotChange: what went into the columns is done.
func TestFinishedValuesDoNotChange(t *testing.T) {
	event := "}\x94(\x8c\x06action\x8c\x05alloc\x8c\x04sizeK\x08u"
	dump, err := readBytes(snapshotOf("]", "](]("+event+event+"h\x00(\x8c\x04sizeK\x09uee"))
	if err != nil || !dump.Truncated || len(dump.Devices) != 1 || dump.Devices[0].Events.Len() != 2 {
		t.Errorf("%+v, %v", dump, err)
	}
}

// TestEventInTwoParts: a dictionary may be filled more than once before it is
// appended.
func TestEventInTwoParts(t *testing.T) {
	parts := "}(\x8c\x06action\x8c\x05alloc\x8c\x04sizeK\x08u(\x8c\x04addrK\x10\x8c\x06streamK\x00u\x8c\x07time_usK\x05s"
	dump, err := readBytes(snapshotOf("]", "](]("+parts+parts+"ee"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range plain(dump).Devices[0].Events {
		if e.Bytes != 8 || e.Address != 16 || e.TimeUs != 5 {
			t.Errorf("%+v", e)
		}
	}
	if n := dump.Devices[0].Events.Len(); n != 2 {
		t.Errorf("%d events", n)
	}
}

// TestMemoEntryThatIsWrittenAgain: BINPUT may overwrite what a shape was
// learnt with.
func TestMemoEntryThatIsWrittenAgain(t *testing.T) {
	var content bytes.Buffer
	content.WriteString("\x80\x02}(X\x08\x00\x00\x00segments]X\x0d\x00\x00\x00device_traces](](")
	for i, key := range []string{"action", "alloc", "size", "free_completed", "frames", "name", "filename"} {
		content.WriteString("X")
		content.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(key))))
		content.WriteString(key + "q" + string(rune(i)))
	}
	// Those strings stand in the trace and are no events; then come events
	// that recall them, and frames under 8 that change.
	frame := func(line byte) string {
		return "}q\x08(h\x05h\x05h\x06h\x06X\x04\x00\x00\x00lineK" + string(rune(line)) + "u"
	}
	event := func(action string) string { return "}(h\x00" + action + "h\x02K\x07h\x04](h\x08h\x08eu" }
	content.WriteString(frame(1) + strings.Repeat(event("h\x01"), 3))
	content.WriteString(frame(2) + strings.Repeat(event("h\x01"), 3))
	content.WriteString("X\x03\x00\x00\x00oomq\x01" + strings.Repeat(event("h\x01"), 2) + "eeu.")
	for _, fast := range []bool{true, false} {
		dump, err := readPlainly(content.Bytes(), pieceBytes, fast)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range plain(dump).Devices[0].Events {
			got = append(got, e.Action+" "+e.Stack)
		}
		first, second := "name filename:1 < name filename:1", "name filename:2 < name filename:2"
		want := []string{
			"alloc " + first, "alloc " + first, "alloc " + first, "alloc " + second, "alloc " + second, "alloc " + second,
			"oom " + second, "oom " + second,
		}
		if !slices.Equal(got, want) {
			t.Errorf("fast %v: %q", fast, got)
		}
	}
}
