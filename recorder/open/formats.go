package open

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"vramscope/recorder"
)

// Format is a kind of file that is recognised.
type Format struct {
	// Name is what a file of it is, as a sentence goes on: "a recording".
	Name string
	// Reason and Advice say why it is not opened and what to do instead, where
	// it is not.
	Reason, Advice string
	// ReadDump reads a foreign dump; nil where there is no reader for it.
	ReadDump func(path string, watch Watch) (*recorder.Dump, error)
	// ReadCosts reads a calibration file; nil where it is none.
	ReadCosts func(path string) (*recorder.Costs, error)

	match     func(*content) bool
	recording bool
}

// Opens says whether files of the format are opened.
func (f *Format) Opens() bool { return f.recording || f.ReadDump != nil || f.ReadCosts != nil }

// whatOpens is the formats that are opened, as a sentence goes on.
func whatOpens() string {
	var names []string
	for i := range formats {
		if formats[i].Opens() {
			names = append(names, formats[i].Name)
		}
	}
	return strings.Join(names, " or ")
}

const (
	notYet    = "there is no reader for it yet"
	notMemory = "no GPU memory is in it"
	takeTorch = "record a PyTorch memory snapshot with torch.cuda.memory._dump_snapshot(FILE) and open that"
)

// formats is every kind of file that is known, in the order in which they are
// tried: the first match counts. A reader for a foreign dump is put in here, as
// ReadDump of its line.
var formats = []Format{
	{Name: "a recording (.vscope, .vscope.zst)", recording: true, match: isRecording},
	{
		Name: "a PyTorch memory snapshot", match: isPickle, ReadDump: readSnapshot,
	},
	{
		Name: "a Python pickle of protocol 0 or 1", match: isOldPickle,
		Reason: "PyTorch writes its snapshots with protocol 2 or later", Advice: "save it again with pickle protocol 2 or later; nothing in it was executed",
	},
	{
		Name: "an archive by torch.save", match: isTorchArchive,
		Reason: "it holds tensors and is no memory snapshot", Advice: takeTorch,
	},
	{Name: "a zip archive", match: begins("PK\x03\x04"), Reason: notMemory, Advice: "unpack it and open what is inside"},
	{
		Name: "an Nsight Systems export", match: isNsightExport,
		Reason: notYet, Advice: "look at its table CUDA_GPU_MEMORY_USAGE_EVENTS with sqlite3",
	},
	{Name: "an SQLite database", match: begins("SQLite format 3\x00"), Reason: "it is of no kind that is known here", Advice: "look into it with sqlite3"},
	{
		Name: "a memray capture", match: begins("memray\x00"),
		Reason: "it holds the host's heap, and GPU memory is not in it", Advice: "run memray stats on it, with the version of memray that wrote it",
	},
	{
		Name: "an Nsight Systems report", match: beginsNear("NVIDIA Tegra Profiler Report"),
		Reason: "its format is NVIDIA's own", Advice: "convert it with nsys export --type sqlite, from a capture with --cuda-memory-usage=true",
	},
	{
		Name: "an HTML page with a PyTorch memory snapshot inside", match: page("add_local_files(", "const local_files"),
		ReadDump: readSnapshot,
	},
	{
		Name: "a picture of a memory timeline", match: page("GPU Memory Timeline HTML", "data:image/png;base64"),
		Reason: "a picture has no numbers", Advice: "export the timeline as .raw.json.gz instead",
	},
	{Name: "an HTML page", match: page(""), Reason: "no memory dump is in it", Advice: takeTorch},
	{Name: "a calibration module by algan (mem_usage.py)", match: isAlganModule, ReadCosts: readAlganModule},
	{Name: "a probe by algan", match: isAlganProbe, ReadCosts: readAlganProbe},
	{
		Name: "the results of a benchmark by algan", match: isAlganBenchmark,
		Reason: "it has the peaks of whole runs and no scope", Advice: "it is text; read it as it is",
	},
	{
		Name: "a PyTorch memory snapshot as JSON", match: isSnapshotJSON, ReadDump: readSnapshot,
	},
	{
		Name: "a profiler's trace", match: isTrace,
		Reason: notYet, Advice: takeTorch,
	},
	{
		Name: "a memory timeline by the PyTorch profiler", match: starts(regexp.MustCompile(`^\[\[\s*-?[\d.]`)),
		Reason: notYet, Advice: takeTorch,
	},
	{Name: "a log of CuPy's memory hook", match: starts(regexp.MustCompile(`^\{"hook":"`)), Reason: notYet, Advice: takeTorch},
	{Name: "a log of RMM", match: starts(rmmLog), Reason: notYet, Advice: "sum its Size column by Action"},
	{
		Name: "a debug log of RMM", match: starts(regexp.MustCompile(`^\[\s*\d+\]\[\d\d:\d\d:\d\d:\d{6}\]\[\w+\s*\]`)),
		Reason: "it is prose and has no list of events", Advice: "log with RMM's logging_resource_adaptor instead",
	},
	{Name: "a buffer assignment of XLA", match: words("BufferAssignment:"), Reason: notYet, Advice: "read its Allocations by hand"},
	{
		Name: "a memory usage report of XLA", match: words("Total bytes used:", "Allocations sorted by size"),
		Reason: notYet, Advice: "it is text; read it as it is",
	},
	{
		Name: "a log with a dump of TensorFlow's or JAX's allocator", match: words("bfc_allocator.cc:"),
		Reason: notYet, Advice: "it is text; look for its lines Sum Total of in-use chunks",
	},
	{
		Name: "a log with an out-of-memory message of PyTorch", match: isTorchOOM,
		Reason: "it says how much was missing and not who had it", Advice: takeTorch,
	},
	{
		Name: "a memory summary of PyTorch", match: words("PyTorch CUDA memory summary, device ID"),
		Reason: "it has sums and no allocations", Advice: takeTorch,
	},
	{Name: "a report of CuPy's line profiler", match: starts(regexp.MustCompile(`^_root \(`)), Reason: "it has sums alone", Advice: "it is text; read it as it is"},
	{
		Name: "a report of RMM's profiler", match: words("Memory Profiling", "====="),
		Reason: "it has sums alone", Advice: "it is text; read it as it is",
	},
	{
		Name: "a JAX device memory profile or another pprof profile", match: isProfile,
		Reason: notYet, Advice: "view it with pprof",
	},
	{Name: "a file packed with bzip2", match: begins("BZh"), Reason: "it is not unpacked here", Advice: "unpack it with bunzip2 and open that"},
	{Name: "a file packed with xz", match: begins("\xfd7zXZ\x00"), Reason: "it is not unpacked here", Advice: "unpack it with unxz and open that"},
}

var rmmLog = regexp.MustCompile(`^((Thread,)?Time,Action,Pointer,Size,Stream|\d+,\d\d:\d\d:\d\d[.:]\d{6},(allocate|free|allocate failure),(0x[0-9a-f]+|\(nil\)),\d+,)`)

// isRecording says that the first line is a hello, or the beginning of one.
func isRecording(c *content) bool {
	if c.packed("gzip") {
		return false
	}
	const hello = `{"t":"hello"`
	if len(c.head) == 0 {
		// A compressed file that was cut before anything can be inflated.
		return c.packed("zstd")
	}
	line, whole := c.firstLine()
	if bytes.HasPrefix(line, []byte(hello)) {
		return true
	}
	if !whole {
		return c.cut && len(line) < len(hello) && strings.HasPrefix(hello, string(line))
	}
	record, err := recorder.DecodeLine(line)
	if record != nil {
		_, isHello := record.(*recorder.Hello)
		return isHello
	}
	_, isNewer := err.(*recorder.ProtocolError)
	return isNewer
}

// isOldPickle says that it begins like a dictionary or a list in a pickle of
// protocol 0 or 1, which have no header: MARK and DICT or LIST with a memo, or
// EMPTY_DICT or EMPTY_LIST with one.
func isOldPickle(c *content) bool {
	for _, begin := range []string{"(dp0\n", "(dp1\n", "(lp0\n", "(lp1\n", "}q\x00(", "]q\x00("} {
		if bytes.HasPrefix(c.head, []byte(begin)) {
			return true
		}
	}
	return false
}

// isPickle says that it begins like a pickle of protocol 2 to 5.
func isPickle(c *content) bool {
	return len(c.head) > 2 && c.head[0] == 0x80 && 2 <= c.head[1] && c.head[1] <= 5
}

func isTorchArchive(c *content) bool {
	return begins("PK\x03\x04")(c) && bytes.Contains(c.head, []byte("/data.pkl"))
}

func isNsightExport(c *content) bool {
	return begins("SQLite format 3\x00")(c) &&
		(bytes.Contains(c.head, []byte("CUDA_GPU_MEMORY_USAGE_EVENTS")) || bytes.Contains(c.head, []byte("ENUM_CUDA_")))
}

func isSnapshotJSON(c *content) bool {
	if keys := topKeys(c.text); keys["segments"] || keys["device_traces"] {
		return true
	}
	return strings.HasPrefix(c.text, "[") && strings.Contains(c.text, `"segment_type"`)
}

func isTrace(c *content) bool {
	if keys := topKeys(c.text); keys["schemaVersion"] || keys["deviceProperties"] || keys["traceEvents"] {
		return true
	}
	return strings.HasPrefix(c.text, "[") && strings.Contains(c.text, `"ph"`)
}

// topKeys is the keys of a JSON object, as far as its text is there.
func topKeys(text string) map[string]bool {
	keys := map[string]bool{}
	if !strings.HasPrefix(text, "{") {
		return keys
	}
	tokens := json.NewDecoder(strings.NewReader(text))
	depth, isKey := 0, false
	for {
		token, err := tokens.Token()
		if err != nil {
			return keys
		}
		if key, ok := token.(string); ok && depth == 1 && isKey {
			keys[key] = true
			isKey = false
			continue
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		isKey = depth == 1
	}
}

func isTorchOOM(c *content) bool {
	return strings.Contains(c.text, "CUDA out of memory. Tried to allocate") || strings.Contains(c.text, "OutOfMemoryError")
}

// isProfile says that it is packed and begins like a pprof profile: with a
// sample type, which is a short message of numbers.
func isProfile(c *content) bool {
	if !c.packed("gzip") || len(c.head) < 6 || c.head[0] != 0x0a || c.head[1] == 0 || c.head[1] > 16 {
		return false
	}
	return c.head[2] == 0x08 || c.head[2] == 0x10
}

// begins matches content that starts with those bytes.
func begins(magic string) func(*content) bool {
	return func(c *content) bool { return bytes.HasPrefix(c.head, []byte(magic)) }
}

// beginsNear matches content that has those bytes close to its start.
func beginsNear(magic string) func(*content) bool {
	return func(c *content) bool { return bytes.Contains(c.head[:min(len(c.head), 256)], []byte(magic)) }
}

// starts matches a text.
func starts(pattern *regexp.Regexp) func(*content) bool {
	return func(c *content) bool { return pattern.MatchString(c.text) }
}

// words matches a text that holds all of them.
func words(all ...string) func(*content) bool {
	return func(c *content) bool {
		for _, word := range all {
			if !strings.Contains(c.text, word) {
				return false
			}
		}
		return true
	}
}

// page matches an HTML page that holds one of them.
func page(some ...string) func(*content) bool {
	return func(c *content) bool {
		if !strings.HasPrefix(c.text, "<") {
			return false
		}
		for _, word := range some {
			if strings.Contains(c.text, word) {
				return true
			}
		}
		return false
	}
}
