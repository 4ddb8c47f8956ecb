package nvml

import (
	"errors"
	"strings"
	"testing"
)

const unifiedMeminfo = "MemTotal:       125718220 kB\nMemFree:         2000000 kB\nMemAvailable:   100000000 kB\nHugePages_Total:       0\n"

func reader(unified bool) *memoryReader {
	return &memoryReader{unified: unified, meminfo: func() ([]byte, error) { return []byte(unifiedMeminfo), nil }}
}

// The idle H200 of which v1 says 644,939,776 bytes used and v2 as many
// reserved and 0 used.
func TestMemoryOfAnIdleH200(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	m, code := reader(false).read(g)
	if code != codeSuccess {
		t.Fatal(code)
	}
	want := Memory{
		Total: known(150754820096, SourceV2), Used: known(0, SourceV2),
		Free: known(150109880320, SourceV2), Reserved: known(644939776, SourceV2),
	}
	if m != want {
		t.Errorf("memory = %+v, want %+v", m, want)
	}
	if m.Total.Value != m.Used.Value+m.Free.Value+m.Reserved.Value {
		t.Error("v2's parts do not add up to its total")
	}
}

func TestAnyFailureOfV2LeadsToV1ForGood(t *testing.T) {
	for _, code := range []Code{3, 4, 10, 13, 25, 999} {
		g := newFakeGPU(t, "GPU-1")
		g.set(func(a *fakeAnswers) { a.v2Code = code })
		r := reader(false)
		for range 3 {
			m, got := r.read(g)
			if got != codeSuccess || m.Used != known(644939776, SourceV1) {
				t.Fatalf("after %v: used = %+v, %v", code, m.Used, got)
			}
			if m.Reserved.Known || !strings.Contains(m.Reserved.Missing, "counts the driver's reserve as used") {
				t.Errorf("after %v: reserved = %+v, want unknown with v1's reason", code, m.Reserved)
			}
		}
		if n := g.count("memory v2"); n != 1 {
			t.Errorf("after %v: v2 was asked %d times, want once", code, n)
		}
	}
}

func TestMemoryThatNVMLDoesNotHave(t *testing.T) {
	tests := []struct {
		name           string
		unified        bool
		v2, v1         memoryNumbers
		v2Code, v1Code Code
		source         string // "" for unknown
		missing        string
		asksAgain      bool
	}{
		{name: "GB10 says NOT_SUPPORTED", unified: true, v2Code: 3, v1Code: 3, source: SourceMeminfo},
		{name: "GB10 says success and zeros", unified: true, source: SourceMeminfo},
		{name: "v2 missing, v1 NOT_SUPPORTED", unified: true, v2Code: 13, v1Code: 3, source: SourceMeminfo},
		{name: "v2 fails, v1 NOT_SUPPORTED", unified: true, v2Code: 999, v1Code: 3, source: SourceMeminfo, asksAgain: true},
		{name: "a GPU with memory of its own", v2Code: 3, v1Code: 3, missing: "NVML 3, NOT_SUPPORTED"},
		{name: "a GPU with memory of its own and zeros", missing: "NVML 3, NOT_SUPPORTED"},
		{name: "a parent of MIG devices", v2Code: 4, v1Code: 4, missing: "NVML 4, NO_PERMISSION", asksAgain: true},
		{name: "a unified GPU without permission", unified: true, v2Code: 4, v1Code: 4, missing: "NVML 4, NO_PERMISSION", asksAgain: true},
		{name: "a library with neither call", v2Code: 13, v1Code: 13, missing: "NVML 13, FUNCTION_NOT_FOUND"},
		{name: "a timeout", unified: true, v2Code: 10, v1Code: 10, missing: "no sample yet", asksAgain: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := newFakeGPU(t, "GPU-1")
			g.set(func(a *fakeAnswers) { a.v2, a.v1, a.v2Code, a.v1Code = test.v2, test.v1, test.v2Code, test.v1Code })
			r := reader(test.unified)
			for range 2 {
				m, code := r.read(g)
				if code != codeSuccess {
					t.Fatalf("code = %v, want success: the GPU is not lost", code)
				}
				if test.source == SourceMeminfo {
					want := Memory{
						Total: known(125718220*1024, SourceMeminfo), Used: known(25718220*1024, SourceMeminfo),
						Free: known(100000000*1024, SourceMeminfo), Reserved: unknown("this GPU shares the system's memory"), Shared: true,
					}
					if m != want {
						t.Fatalf("memory = %+v, want %+v", m, want)
					}
					continue
				}
				for _, n := range []Number{m.Total, m.Used, m.Free, m.Reserved} {
					if n.Known || !strings.Contains(n.Missing, test.missing) {
						t.Errorf("number = %+v, want unknown because of %s", n, test.missing)
					}
				}
			}
			if again := g.count("memory v1") > 1; again != test.asksAgain {
				t.Errorf("asked again: %v, want %v", again, test.asksAgain)
			}
		})
	}
}

func TestALostGPUHasNoMemoryAndNoOther(t *testing.T) {
	for _, code := range []Code{15, 16, 28, 1, 9, 18} {
		g := newFakeGPU(t, "GPU-1")
		g.set(func(a *fakeAnswers) { a.code = code })
		m, got := reader(true).read(g)
		if got != code {
			t.Errorf("code = %v, want %v", got, code)
		}
		if m.Total.Known || m.Shared {
			t.Errorf("%v: memory = %+v, want unknown and not the system's", code, m)
		}
		if n := g.count("memory v1"); n != 0 {
			t.Errorf("%v: v1 was asked %d times, want never", code, n)
		}
	}
}

func TestImpossibleMemoryIsRefused(t *testing.T) {
	for _, m := range []memoryNumbers{
		{total: 100, used: 101},
		{total: 100, free: 101},
		{total: 100, reserved: 101},
		{total: 100, used: 60, free: 41},
		{total: 1 << 63, used: 1 << 63, free: 1 << 63, reserved: 1 << 63}, // the sum wraps
	} {
		got := judgeMemory(m, SourceV2)
		if got.Total.Known || !strings.Contains(got.Used.Missing, "driver reports garbage") {
			t.Errorf("%+v: %+v, want garbage", m, got)
		}
	}
}

func TestMeminfoThatCannotBeRead(t *testing.T) {
	g := newFakeGPU(t, "GPU-1")
	g.set(func(a *fakeAnswers) { a.v2Code, a.v1Code = 3, 3 })
	for _, text := range []string{"", "MemTotal: 5 kB\n", "MemTotal: 5 kB\nMemAvailable: 6 kB\n", "MemTotal: 5 MB\nMemAvailable: 3 kB\n", "MemTotal: -5 kB\nMemAvailable: 3 kB\n"} {
		r := &memoryReader{unified: true, meminfo: func() ([]byte, error) { return []byte(text), nil }}
		if m, _ := r.read(g); m.Total.Known || m.Total.Missing == "" {
			t.Errorf("%q: %+v, want unknown with a reason", text, m.Total)
		}
	}
	r := &memoryReader{unified: true, meminfo: func() ([]byte, error) { return nil, errors.New("permission denied") }}
	if m, _ := r.read(g); !strings.Contains(m.Total.Missing, "permission denied") {
		t.Errorf("missing = %q, want the error", m.Total.Missing)
	}
}

func FuzzMeminfo(f *testing.F) {
	f.Add([]byte(unifiedMeminfo))
	f.Add([]byte("MemTotal: 18446744073709551615 kB\nMemAvailable: 1 kB\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		total, available, ok := parseMeminfo(text)
		if ok && (total == 0 || available > total) {
			t.Errorf("total %d, available %d accepted", total, available)
		}
	})
}
