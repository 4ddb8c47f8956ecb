package grid

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

func TestAppendBytes(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{Missing, "–"},
		{0, "0 B"},
		{1, "1 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{1536, "1.5 KiB"},
		{128 * mib, "128.0 MiB"},
		{mib - 1, "1.0 MiB"},
		{1023*kib + 900, "1023.9 KiB"},
		{15891456000, "14.8 GiB"},
		{150754820096, "140.4 GiB"},
		{-1536, "-1.5 KiB"},
		{math.MaxInt64, "8.0 EiB"},
		{-math.MaxInt64, "-8.0 EiB"},
	} {
		if got := string(AppendBytes(nil, c.n)); got != c.want {
			t.Errorf("AppendBytes(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestAppendBytesStaysInItsColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		got := AppendBytes(nil, n)
		if columns := numberWidth(got); columns > 11 || n >= 0 && columns > 10 {
			t.Fatalf("%d reads %q: %d columns", n, got, columns)
		}
		if text := string(got); n > 0 && (strings.HasPrefix(text, "0") || strings.HasPrefix(text, "-")) {
			t.Fatalf("%d reads %q", n, got)
		}
	})
}

func TestAppendShort(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{Missing, "–"}, {0, "0B"}, {999, "999B"}, {1000, "1.0K"}, {1536, "1.5K"}, {1023 * mib, "1.0G"}, {998 * mib, "998M"},
		{51109874073, "47.6G"}, {150754820096, "140G"}, {-gib, "-1.0G"}, {math.MaxInt64, "8.0E"}, {100*gib - 1, "100G"},
	} {
		if got := string(AppendShort(nil, c.n)); got != c.want {
			t.Errorf("AppendShort(%d) = %q, want %q", c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(0).Draw(t, "n")
		if got := AppendShort(nil, n); len(got) > 5 {
			t.Fatalf("%d reads %q", n, got)
		}
	})
}

func TestAppendGiB(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{Missing, "–"}, {0, "0.0"}, {1, "<0.1"}, {-1, "<0.1"}, {gib, "1.0"}, {gib / 10, "0.1"},
		{76450299085, "71.2"}, {-3 * gib / 2, "-1.5"},
	} {
		if got := string(AppendGiB(nil, c.n)); got != c.want {
			t.Errorf("AppendGiB(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestAppendCountAndExact(t *testing.T) {
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0"}, {7, "7"}, {999, "999"}, {1000, "1,000"}, {5120, "5,120"}, {-1234567, "-1,234,567"},
		{math.MaxInt64, "9,223,372,036,854,775,807"}, {Missing, "–"},
	} {
		if got := string(AppendCount(nil, c.n)); got != c.want {
			t.Errorf("AppendCount(%d) = %q, want %q", c.n, got, c.want)
		}
	}
	if got := string(AppendExact(nil, 15891456000)); got != "15,891,456,000 B" {
		t.Errorf("AppendExact = %q", got)
	}
}

func TestAppendCountReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Min(math.MinInt64+1).Draw(t, "n")
		text := string(AppendCount(nil, n))
		back, err := strconv.ParseInt(strings.ReplaceAll(text, ",", ""), 10, 64)
		if err != nil || back != n {
			t.Fatalf("%d reads %q", n, text)
		}
	})
}

func TestAppendPercent(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{
		{71, 100, "71 %"}, {14, 1000, "1.4 %"}, {0, 100, "0.0 %"}, {1, 1_000_000, "<0.1 %"}, {100, 100, "100 %"},
		{999_999, 1_000_000, "99.9 %"}, {995, 1000, "99.5 %"}, {994, 1000, "99 %"}, {150, 100, "150 %"}, {-5, 100, "-5.0 %"},
		{1, 0, "–"}, {1, -1, "–"}, {Missing, 100, "–"}, {1, Missing, "–"},
		{math.MaxInt64, 1, "100000000000000 %"},
	} {
		if got := string(AppendPercent(nil, c.part, c.whole)); got != c.want {
			t.Errorf("AppendPercent(%d, %d) = %q, want %q", c.part, c.whole, got, c.want)
		}
	}
}

func TestAppendDuration(t *testing.T) {
	const us, ms, s = 1000, 1_000_000, 1_000_000_000
	for _, c := range []struct {
		n    int64
		want string
	}{
		{0, "0 ns"}, {850, "850 ns"}, {12_300, "12.3 us"}, {999_940, "1000 us"}, {999_999, "1.0 ms"}, {4 * ms, "4 ms"},
		{4_020_000, "4.0 ms"}, {400 * ms, "400 ms"}, {999_999_999, "1.0 s"}, {s, "1.0 s"}, {59_940_000_000, "59.9 s"},
		{59_960_000_000, "1 m 00 s"}, {65 * s, "1 m 05 s"}, {3599_600_000_000, "1 h 00 m"}, {7380 * s, "2 h 03 m"},
		{86400 * 3 * s, "3 d 00 h"}, {(86400*3 + 4*3600) * s, "3 d 04 h"}, {-65 * s, "-1 m 05 s"}, {Missing, "–"},
		{9 * us, "9 us"}, {math.MaxInt64, "106752 d 00 h"},
	} {
		if got := string(AppendDuration(nil, c.n)); got != c.want {
			t.Errorf("AppendDuration(%d) = %q, want %q", c.n, got, c.want)
		}
	}
}

func TestOtherNumbers(t *testing.T) {
	for _, c := range []struct {
		what string
		got  []byte
		want string
	}{
		{"rate", AppendRate(nil, 1288490189), "1.2 GiB/s"},
		{"rate", AppendRate(nil, Missing), "–"},
		{"hertz", AppendHertz(nil, 10_000), "10 Hz"},
		{"hertz", AppendHertz(nil, 500), "0.5 Hz"},
		{"hertz", AppendHertz(nil, Missing), "–"},
		{"factor", AppendFactor(nil, 98, 21), "4.7"},
		{"factor", AppendFactor(nil, 98, 0), "–"},
		{"delta", AppendDelta(nil, 3*gib/2), "+1.5 GiB"},
		{"delta", AppendDelta(nil, -512), "-512 B"},
		{"delta", AppendDelta(nil, 0), "0 B"},
		{"delta", AppendDelta(nil, Missing), "–"},
		{"seconds", AppendSeconds(nil, -12_500_000_000), "-12.5"},
		{"seconds", AppendSeconds(nil, Missing), "–"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
}

func TestKnown(t *testing.T) {
	if got := string(AppendBytes(nil, Known(0, false))); got != "–" {
		t.Errorf("what is not known reads %q", got)
	}
	if got := string(AppendBytes(nil, Known(0, true))); got != "0 B" {
		t.Errorf("zero reads %q", got)
	}
}

func TestNumbersMakeNoGarbage(t *testing.T) {
	var buffer [64]byte
	if allocs := testing.AllocsPerRun(100, func() {
		dst := buffer[:0]
		dst = AppendBytes(dst[:0], 15891456000)
		dst = AppendExact(dst[:0], 15891456000)
		dst = AppendPercent(dst[:0], 14, 1000)
		dst = AppendDuration(dst[:0], 65e9)
		_ = AppendFactor(dst[:0], 98, 21)
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
