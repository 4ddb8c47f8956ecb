package nvml

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

const gibibyte = 1 << 30

// procFolder makes a /proc with these processes, and their numbers.
func procFolder(t *testing.T, status map[int]string) processFiles {
	t.Helper()
	root := t.TempDir()
	for pid, text := range status {
		folder := filepath.Join(root, fmt.Sprint(pid))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "status"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return processFiles{root: root, initialNamespace: true, exists: func(int) bool { return false }}
}

func plain(pid uint32, memory uint64) processRecord {
	return processRecord{pid: pid, memory: memory, instance: noInstance, compute: noInstance}
}

func TestComputeAndGraphicsMergeByProcess(t *testing.T) {
	files := procFolder(t, map[int]string{
		812: "Name:\tpython3\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t40812\t812\n",
		900: "Name:\tXorg\nUid:\t0\t0\t0\t0\nNSpid:\t900\n",
	})
	if err := os.WriteFile(filepath.Join(files.root, "812", "cmdline"), []byte("/usr/bin/python3\x00-u\x00/home/a/render.py\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) {
		a.compute = []processRecord{plain(812, 3*gibibyte), plain(900, notAvailable)}
		a.graphics = []processRecord{plain(900, gibibyte), plain(812, 3*gibibyte)}
	})
	now := time.Unix(5, 0)
	r := processReader{files: files}
	got, code := r.read(g, 140*gibibyte, now)
	if code != codeSuccess {
		t.Fatal(code)
	}
	want := Processes{Known: true, Source: SourceNVML, At: now, List: []Process{
		{
			PID: 812, Kind: KindCompute | KindGraphics, Memory: known(3*gibibyte, SourceNVML), Instance: NoInstance, Compute: NoInstance,
			Facts: Facts{Name: "python3", Arguments: []string{"/usr/bin/python3", "-u", "/home/a/render.py"}, NSPIDs: []int{40812, 812}, UID: 1000},
		},
		{
			PID: 900, Kind: KindCompute | KindGraphics, Memory: known(gibibyte, SourceNVML), Instance: NoInstance, Compute: NoInstance,
			Facts: Facts{Name: "Xorg", NSPIDs: []int{900}, UID: 0},
		},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("processes = %+v\nwant %+v", got, want)
	}
	if label := got.List[0].label(); label != "python3 render.py" {
		t.Errorf("label = %q", label)
	}
	if kind := got.List[0].Kind.String(); kind != "C+G" {
		t.Errorf("kind = %q", kind)
	}
}

func TestMemoryThatIsNotCountedPerProcess(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.compute = []processRecord{plain(812, notAvailable)} })
	r := processReader{files: procFolder(t, map[int]string{812: "Name:\tpython3\n"})}
	got, _ := r.read(g, 140*gibibyte, time.Time{})
	if p := got.List[0]; p.Memory.Known || p.Memory.Missing == "" || p.Doubt != "" {
		t.Errorf("process = %+v, want unknown memory with a reason, and no doubt", p)
	}
}

func TestAnEmptyListIsKnown(t *testing.T) {
	r := processReader{files: procFolder(t, nil)}
	got, code := r.read(newFakeGPU(t, "GPU-1"), 0, time.Time{})
	if code != codeSuccess || !got.Known || len(got.List) != 0 {
		t.Errorf("processes = %+v, %v; want a known empty list", got, code)
	}
}

func TestProcessesThatTheDriverDoesNotList(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.code = codeFunctionNotFound })
	r := processReader{files: procFolder(t, nil)}
	for range 2 {
		got, code := r.read(g, 0, time.Time{})
		if code != codeSuccess || got.Known || !strings.Contains(got.Missing, "NVML 13, FUNCTION_NOT_FOUND") {
			t.Errorf("processes = %+v, %v; want unknown with the reason", got, code)
		}
	}
	if n := g.count("compute"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// Early R535 drivers fill an array of 24-byte records with 32-byte ones, and
// another driver with the 16-byte ones of version 1.
func TestRecordsOfAnotherSizeAreGarbage(t *testing.T) {
	type v1 struct {
		PID    uint64 // and its padding
		Memory uint64
	}
	type v3 struct {
		PID       uint64
		Memory    uint64
		Instances uint64
		Protected uint64
	}
	var wide, narrow bytes.Buffer
	for i := range uint64(3) {
		pid, memory := 812+i, (i+1)*gibibyte
		binary.Write(&wide, binary.LittleEndian, v3{pid, memory, notAvailable, 0})
		binary.Write(&narrow, binary.LittleEndian, v1{pid, memory})
	}
	for name, raw := range map[string][]byte{"wide": wide.Bytes(), "narrow": narrow.Bytes()} {
		t.Run(name, func(t *testing.T) {
			records := make([]processRecord, len(raw)/24)
			for i := range records {
				r := raw[i*24:]
				records[i] = processRecord{
					pid: binary.LittleEndian.Uint32(r), memory: binary.LittleEndian.Uint64(r[8:]),
					instance: binary.LittleEndian.Uint32(r[16:]), compute: binary.LittleEndian.Uint32(r[20:]),
				}
			}
			g := newFakeGPU(t, "GPU-1")
			g.set(func(a *fakeAnswers) { a.compute = records })
			r := processReader{files: procFolder(t, nil)}
			got, code := r.read(g, 140*gibibyte, time.Time{})
			if code != codeSuccess || got.Known || len(got.List) != 0 || !strings.Contains(got.Missing, "driver reports garbage") {
				t.Errorf("processes = %+v, %v; want garbage", got, code)
			}
		})
	}
}

func TestOneImpossibleRecordSpoilsTheList(t *testing.T) {
	for name, bad := range map[string]processRecord{
		"number 0":              plain(0, gibibyte),
		"number above Linux's":  plain(maxPID+1, gibibyte),
		"more than there is":    plain(813, 141*gibibyte),
		"one less than nothing": plain(813, notAvailable-1),
	} {
		good := []processRecord{plain(812, gibibyte)}
		if why := judgeProcesses(140*gibibyte, good, append(good, bad)); !strings.Contains(why, "record 2 of 2") {
			t.Errorf("%s: %q, want the record named", name, why)
		}
	}
	if why := judgeProcesses(140*gibibyte, []processRecord{plain(maxPID, notAvailable), plain(1, 140*gibibyte)}); why != "" {
		t.Errorf("possible records: %q", why)
	}
	if why := judgeProcesses(0, []processRecord{plain(1, 1<<60)}); why != "" {
		t.Errorf("unknown total: %q", why)
	}
}

func TestProcessesThatAreNotThere(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.compute = []processRecord{plain(812, gibibyte)} })
	doubt := func(r *processReader) string {
		got, _ := r.read(g, 140*gibibyte, time.Time{})
		if got.List[0].Name != "" || got.List[0].UID != -1 {
			t.Errorf("a process that is not there is named: %+v", got.List[0])
		}
		return got.List[0].Doubt
	}
	files := procFolder(t, nil)
	r := &processReader{files: files}
	if d := doubt(r); !strings.Contains(d, "any more") {
		t.Errorf("first listing: %q", d)
	}
	if d := doubt(r); !strings.Contains(d, "driver reports garbage") {
		t.Errorf("second listing: %q", d)
	}
	files.exists = func(int) bool { return true }
	if d := doubt(&processReader{files: files}); !strings.Contains(d, "hidden") {
		t.Errorf("hidden by /proc: %q", d)
	}
	files.exists, files.initialNamespace = func(int) bool { return false }, false
	if d := doubt(&processReader{files: files}); !strings.Contains(d, "outside this container") {
		t.Errorf("in a container: %q", d)
	}
}

// In a container the driver's number may belong to another process here: only
// one that has a GPU open is taken to be the one.
func TestANumberThatMeansAnotherProcessInAContainer(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.compute = []processRecord{plain(812, gibibyte)} })
	files := procFolder(t, map[int]string{812: "Name:\tbash\n"})
	files.initialNamespace = false
	read := func() Process {
		r := processReader{files: files}
		got, _ := r.read(g, 140*gibibyte, time.Time{})
		return got.List[0]
	}
	if p := read(); p.Name != "bash" || !strings.Contains(p.Doubt, "may mean another") {
		t.Errorf("files unreadable: %+v", p)
	}
	fd := filepath.Join(files.root, "812", "fd")
	if err := os.Mkdir(fd, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/pts/0", filepath.Join(fd, "0")); err != nil {
		t.Fatal(err)
	}
	if p := read(); p.Name != "" || !strings.Contains(p.Doubt, "has no GPU open") {
		t.Errorf("no GPU open: %+v", p)
	}
	if err := os.Symlink("/dev/nvidia0", filepath.Join(fd, "7")); err != nil {
		t.Fatal(err)
	}
	if p := read(); p.Name != "bash" || p.Doubt != "" {
		t.Errorf("GPU open: %+v", p)
	}
}

func TestLoadOfProcesses(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) {
		a.compute = []processRecord{plain(812, 2*gibibyte), plain(813, gibibyte)}
		a.usage = []utilizationSample{{pid: 812, stamp: 20, sm: 40}, {pid: 812, stamp: 10, sm: 99}, {pid: 813, stamp: 30, sm: 4000}}
	})
	r := processReader{files: procFolder(t, nil)}
	list, _ := r.read(g, 140*gibibyte, time.Time{})
	got, code := r.addUtilization(g, list)
	if code != codeSuccess {
		t.Fatal(code)
	}
	if u := got.List[0].Utilization; u != known(40, SourceNVML) {
		t.Errorf("newest sample = %+v, want 40", u)
	}
	if u := got.List[1].Utilization; u.Known || u.Missing == "" {
		t.Errorf("4000 %% = %+v, want unknown with a reason", u)
	}
	if list.List[0].Utilization.Known {
		t.Error("the list that was told before has changed")
	}
	if r.since != 20 {
		t.Errorf("next asking begins at %d, want 20", r.since)
	}
}

func TestStatusOfAHostileProcess(t *testing.T) {
	tests := []struct {
		text string
		want Facts
	}{
		{"Name:\tev\x1b[2Jil\\nName\nUid:\t7\t7\t7\t7\nNSpid:\t1\n", Facts{Name: "ev\x1b[2Jil\\nName", UID: 7, NSPIDs: []int{1}}},
		{"Name:\t" + strings.Repeat("x", 300) + "\n", Facts{Name: strings.Repeat("x", maxName), UID: -1}},
		{"Name:\tfirst\nName:\tsecond\n", Facts{Name: "first", UID: -1}},
		{"Uid:\t-1\nNSpid:\t1 2 three\n", Facts{UID: -1}},
		{"NSpid:\t0\n", Facts{UID: -1}},
		{"NSpid:\t4194304\n", Facts{UID: -1}},
		{"NSpid:" + strings.Repeat("\t5", 33) + "\n", Facts{UID: -1}},
		{"no colon\n:\n\n", Facts{UID: -1}},
		{"", Facts{UID: -1}},
	}
	for _, test := range tests {
		if got := parseStatus([]byte(test.text)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%.40q: %+v, want %+v", test.text, got, test.want)
		}
	}
}

// The real /proc, with this process in it.
func TestFactsOfThisProcess(t *testing.T) {
	files := newProcessFiles("/proc")
	facts, found := files.facts(os.Getpid())
	if !found || facts.Name == "" || facts.UID != os.Getuid() || len(facts.Arguments) == 0 {
		t.Errorf("facts = %+v, %v", facts, found)
	}
	if n := len(facts.NSPIDs); n == 0 || facts.NSPIDs[n-1] != os.Getpid() {
		t.Errorf("NSpid = %v, want this process last", facts.NSPIDs)
	}
	if !files.exists(os.Getpid()) || files.exists(0) {
		t.Error("exists is wrong about this process or about none")
	}
	if uses, told := files.usesGPU(os.Getpid()); uses || !told {
		t.Errorf("uses a GPU: %v, %v; want no, and told", uses, told)
	}
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte("Name:\tpython3\nUid:\t1000\t1000\nNSpid:\t40812\t812\n"))
	f.Add([]byte("Name:\\n\\\\\x00\nNSpid: 99999999999999999999\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		facts := parseStatus(text)
		if len(facts.Name) > maxName || len(facts.NSPIDs) > maxNSPIDs || facts.UID < -1 {
			t.Errorf("facts out of bounds: %+v", facts)
		}
		for _, pid := range facts.NSPIDs {
			if pid <= 0 || pid > maxPID {
				t.Errorf("process number %d", pid)
			}
		}
	})
}
