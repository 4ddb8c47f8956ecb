//go:build linux && !race

package torchsnap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// readFileVariable names the file that a child process of these tests reads.
const readFileVariable = "TORCHSNAP_TEST_READ_FILE"

// init makes this test's binary the reader of one file, when it is asked to:
// its peak of memory is that of the reading alone.
func init() {
	path := os.Getenv(readFileVariable)
	if path == "" {
		return
	}
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	info, err := file.Stat()
	if err != nil {
		panic(err)
	}
	dump, err := Read(file, Options{Size: info.Size()})
	status, _ := os.ReadFile("/proc/self/status")
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	fmt.Println(strings.Fields(peak)[0])
	fmt.Println(err)
	if dump != nil {
		fmt.Println(len(dump.Devices))
	}
	os.Exit(0)
}

// peakOfReading is the most memory that a process took which did nothing but
// read a file, in bytes, and what came of it.
func peakOfReading(t testing.TB, path string) (peak int64, result string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), readFileVariable+"="+path)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	number, result, _ := strings.Cut(string(out), "\n")
	kilobytes, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		t.Fatalf("%s", out)
	}
	return kilobytes << 10, result
}

// TestMemoryStaysBounded reads files that were made to take much memory: each
// process stays below 4 bytes for each inflated byte plus 64 MiB, all in all.
func TestMemoryStaysBounded(t *testing.T) {
	const size = 12 << 20
	repeat := func(begin, what string) []byte {
		return append([]byte(begin), bytes.Repeat([]byte(what), size/len(what))...)
	}
	numbered := func(begin, before, after string) []byte {
		content := []byte(begin)
		for n := uint32(0); len(content) < size; n++ {
			content = append(content, before...)
			content = binary.LittleEndian.AppendUint32(content, n)
			content = append(content, after...)
		}
		return content
	}
	written := func(begin, format string) []byte {
		content := []byte(begin)
		for n := 0; len(content) < size; n++ {
			content = fmt.Appendf(content, format, n)
		}
		return content
	}
	pickle := "\x80\x04"
	eventKeys := pickle + "\x8c\x06action\x94\x8c\x05alloc\x94\x8c\x08category\x94\x8c\x04size\x94\x8c\x05state\x94\x8c\x06frames\x94\x8c\x04name\x94"
	for name, content := range map[string][]byte{
		"lists":                  repeat(pickle, "]"),
		"dictionaries":           repeat(pickle, "}"),
		"empty tuples":           repeat(pickle, ")"),
		"tuples of one":          repeat(pickle, "K\x01\x85"),
		"pairs":                  numbered(pickle, "J", "K\x01\x86"),
		"numbers":                repeat(pickle, "K\x01"),
		"recalls":                repeat(pickle+"]\x94", "h\x00"),
		"recalls in a list":      append(repeat(pickle+"]\x94(", "h\x00"), "e."...),
		"lists in lists":         append(repeat(pickle+"](", "]"), "e."...),
		"pairs in a dictionary":  append(repeat(pickle+"}(", "K\x01K\x02"), "u."...),
		"memo entries":           repeat(pickle+"]", "\x94"),
		"memoised numbers":       repeat(pickle+"K\x01", "\x94"),
		"memo entries far off":   numbered(pickle+"]", "r", ""),
		"strings":                numbered(pickle, "\x8c\x04", ""),
		"memoised strings":       numbered(pickle, "\x8c\x04", "\x94"),
		"long strings":           numbered(pickle, "X\x00\x40\x00\x00", strings.Repeat("\xff", 16<<10-4)),
		"events of nothing":      repeat(eventKeys+"](", "}(h\x00h\x01u"),
		"remembered events":      repeat(eventKeys+"](", "}\x94(h\x00h\x01u"),
		"events with notes":      numbered(eventKeys+"](", "}(h\x00h\x01h\x02J", "u"),
		"events of every stream": numbered(eventKeys+"\x8c\x06stream\x94](", "}(h\x00h\x01h\x07J", "u"),
		"blocks":                 repeat(eventKeys+"](", "}(h\x03K\x01h\x04h\x04u"),
		"frames":                 numbered(eventKeys+"](", "}(h\x00h\x01h\x05]}\x94(h\x06\x8c\x04", "h\x03K\x01uau"),
		"spare dictionaries":     repeat(eventKeys+"](", "}(h\x00h\x01h\x02}(K\x01K\x01K\x01K\x01uu"),
		"segments":               repeat(pickle+"}(\x8c\x08segments](", "}(\x8c\x06blocks]\x8c\x0atotal_sizeK\x01u"),
		"JSON lists":             append(repeat("[", "[],"), "[]]"...),
		"JSON objects":           append(repeat("[", "{},"), "{}]"...),
		"JSON numbers":           append(repeat("[", "1,"), "1]"...),
		"JSON strings":           written("[", `"%d",`),
		"JSON events":            repeat(`{"device_traces":[[`, `{"action":"oom"},`),
		"JSON events with notes": written(`{"device_traces":[[`, `{"action":"oom","x":%d},`),
		"JSON frames":            written(`{"device_traces":[[`, `{"action":"","frames":[{"name":"%d","filename":""}]},`),
		"JSON blocks":            repeat(`{"segments":[{"total_size":1,"blocks":[`, `{"size":1,"state":""},`),
		"zeros":                  make([]byte, size),
	} {
		t.Run(name, func(t *testing.T) {
			for _, packed := range []bool{false, true} {
				path := filepath.Join(t.TempDir(), "file")
				kept := content
				if packed {
					kept = zstandard(content)
				}
				if err := os.WriteFile(path, kept, 0o600); err != nil {
					t.Fatal(err)
				}
				peak, result := peakOfReading(t, path)
				t.Logf("%d MiB: %.100s", peak>>20, result)
				if limit := int64(memoryPerByte*len(content) + memoryApart); peak > limit {
					t.Errorf("packed %v: %d bytes, more than %d: %s", packed, peak, limit, result)
				}
			}
		})
	}
}
