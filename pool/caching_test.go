package pool

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func newTestCachingPool(t *testing.T, upstream Upstream, options CachingPoolOptions) *CachingPool {
	t.Helper()
	pool, err := NewCachingPool(upstream, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := audit(&pool.books); err != nil {
			t.Error(err)
		}
	})
	return pool
}

// cupyCounters are the numbers that CuPy's MemoryPool has.
type cupyCounters struct {
	used, total, free int64
	freeBlocks        int
}

func countersOf(pool Suballocator) cupyCounters {
	usage := pool.Usage()
	return cupyCounters{usage.Allocated, usage.Reserved, usage.Free, usage.FreeBlocks}
}

// The worked check: 1000 bytes take 1024; 100 of them split it; nothing whole
// is free until they are back.
func TestCachingPoolWorkedCheck(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 30}
	pool := newTestCachingPool(t, upstream, CachingPoolOptions{})
	want := func(step string, counters cupyCounters) {
		t.Helper()
		if got := countersOf(pool); got != counters {
			t.Errorf("%s: %+v, want %+v", step, got, counters)
		}
	}
	release := func() {
		t.Helper()
		if _, err := pool.ReleaseFreeSegments(); err != nil {
			t.Fatal(err)
		}
	}
	first := allocateOn(t, pool, 1000, 0)
	want("malloc 1000", cupyCounters{1024, 1024, 0, 0})
	freeOn(t, pool, first, 1000, 0)
	want("free", cupyCounters{0, 1024, 1024, 1})
	second := allocateOn(t, pool, 100, 0)
	want("malloc 100", cupyCounters{512, 1024, 512, 1})
	if second != first {
		t.Errorf("took %#x, want the low end of the same chunk, %#x", second, first)
	}
	release()
	want("free_all_blocks over a split chunk", cupyCounters{512, 1024, 512, 1})
	freeOn(t, pool, second, 100, 0)
	want("free, merged", cupyCounters{0, 1024, 1024, 1})
	release()
	want("free_all_blocks", cupyCounters{0, 0, 0, 0})
	if upstream.used != 0 {
		t.Errorf("upstream still holds %d", upstream.used)
	}
}

func TestCachingPoolTakesExactlyWhatIsNeeded(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 30}
	pool := newTestCachingPool(t, upstream, CachingPoolOptions{})
	for _, bytes := range []int64{1, 512, 513, 1 << 20} {
		allocateOn(t, pool, bytes, 0)
	}
	if want := []int64{512, 512, 1024, 1 << 20}; !slices.Equal(upstream.requests, want) {
		t.Errorf("asked upstream %v, want %v", upstream.requests, want)
	}
	if address, err := pool.Allocate(0, 0); address != 0 || err != nil || pool.Usage().LiveBlocks != 4 {
		t.Errorf("0 bytes gave %#x, %v", address, err)
	}
	var size *SizeError
	if _, err := pool.Allocate(-512, 0); !errors.As(err, &size) {
		t.Errorf("-512 bytes: %v", err)
	}
	wantOutOfMemory(t, pool, 1<<63-1, 0)
}

// A free chunk serves its own stream alone, and goes back to it whatever stream
// is named.
func TestCachingPoolKeepsStreamsApart(t *testing.T) {
	pool := newTestCachingPool(t, &countingUpstream{}, CachingPoolOptions{})
	first := allocateOn(t, pool, 4096, 1)
	freeOn(t, pool, first, 4096, 2)
	if other := allocateOn(t, pool, 512, 2); other == first {
		t.Error("stream 2 took a chunk of stream 1")
	}
	if again := allocateOn(t, pool, 512, 1); again != first {
		t.Errorf("stream 1 got %#x, want its own %#x", again, first)
	}
}

// roomMaker is an upstream that has room only after a number of tries.
type roomMaker struct {
	countingUpstream
	failures int
	calls    []string
}

func (u *roomMaker) Allocate(bytes int64) (Address, error) {
	u.calls = append(u.calls, "allocate")
	if u.failures > 0 {
		u.failures--
		return 0, &OutOfMemoryError{Asked: bytes, Free: Unknown, Total: Unknown, LargestFree: Unknown, Where: "device"}
	}
	return u.countingUpstream.Allocate(bytes)
}

func (u *roomMaker) Free(address Address, bytes int64) error {
	u.calls = append(u.calls, "free")
	return u.countingUpstream.Free(address, bytes)
}

// What is done for room, in CuPy's order: release and retry; collect twice,
// release and retry; give up.
func TestCachingPoolMakesRoom(t *testing.T) {
	for _, row := range []struct {
		failures int
		want     string
		fails    bool
	}{
		{0, "allocate", false},
		{1, "allocate free allocate", false},
		{2, "allocate free allocate collect collect free allocate", false},
		{3, "allocate free allocate collect collect free allocate", true},
	} {
		upstream := &roomMaker{}
		var pool *CachingPool
		var later Address
		pool = newTestCachingPool(t, upstream, CachingPoolOptions{Collect: func() {
			upstream.calls = append(upstream.calls, "collect")
			if later != 0 { // garbage that only the collector knows to be free
				freeOn(t, pool, later, 512, 0)
				later = 0
			}
		}})
		cached := allocateOn(t, pool, 512, 0)
		later = allocateOn(t, pool, 512, 0)
		freeOn(t, pool, cached, 512, 0)
		upstream.calls, upstream.failures = nil, row.failures
		_, err := pool.Allocate(1024, 0)
		if got := strings.Join(upstream.calls, " "); got != row.want || (err != nil) != row.fails {
			t.Errorf("%d failures: %s, %v, want %s", row.failures, got, err, row.want)
		}
		var full *OutOfMemoryError
		if row.fails && (!errors.As(err, &full) || full.Asked != 1024 || full.Where != "CachingPool" || full.Cause == nil) {
			t.Errorf("%d failures: %+v", row.failures, err)
		}
	}
}

func TestCachingPoolPassesOtherFailuresOn(t *testing.T) {
	lost := errors.New("the GPU has fallen off the bus")
	pool := newTestCachingPool(t, &failingUpstream{err: lost}, CachingPoolOptions{Collect: func() { t.Error("collected") }})
	if _, err := pool.Allocate(100, 0); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}

// A pool that the collector closes gives nothing more.
func TestCachingPoolMayBeClosedWhileItMakesRoom(t *testing.T) {
	upstream := &roomMaker{failures: 2}
	var pool *CachingPool
	pool = newTestCachingPool(t, upstream, CachingPoolOptions{Collect: func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	}})
	if _, err := pool.Allocate(100, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// The limit counts what is taken from upstream, and nothing is released to get
// below it.
func TestCachingPoolLimit(t *testing.T) {
	upstream := &boundedUpstream{capacity: 1 << 30}
	pool := newTestCachingPool(t, upstream, CachingPoolOptions{Limit: 2048, Collect: func() { t.Error("collected") }})
	first := allocateOn(t, pool, 1024, 0)
	freeOn(t, pool, first, 1024, 0)
	full := wantOutOfMemory(t, pool, 1025, 0)
	if full.LargestFree != 1024 || full.Reason != "the limit is 2048 bytes, 1024 are taken" {
		t.Errorf("%+v", full)
	}
	if len(upstream.requests) != 1 || pool.Usage().Reserved != 1024 {
		t.Errorf("upstream was asked %v", upstream.requests)
	}
	allocateOn(t, pool, 1024, 0)
	allocateOn(t, pool, 1024, 0)
	wantOutOfMemory(t, pool, 1, 0)
	if limit, ok := pool.Limit(); limit != 2048 || !ok {
		t.Errorf("limit %d, %v", limit, ok)
	}
	var size *SizeError
	if _, err := NewCachingPool(upstream, CachingPoolOptions{Limit: -1}); !errors.As(err, &size) {
		t.Errorf("a negative limit: %v", err)
	}
}

func TestParseCachingLimit(t *testing.T) {
	for _, row := range []struct {
		text string
		want int64
	}{
		{"", 0}, {"0", 0}, {"1073741824", 1 << 30}, {" 512 ", 512},
		{"0%", 0}, {"50%", 500}, {"100%", 1000}, {"12.5%", 125}, {" 10 % ", 100},
	} {
		if got, err := ParseCachingLimit(row.text, 1000); err != nil || got != row.want {
			t.Errorf("%q: %d, %v, want %d", row.text, got, err, row.want)
		}
	}
	for _, text := range []string{"x", "-1", "1.5", "%", "-1%", "101%", "nan%", "inf%", "1GiB", "9223372036854775808", "5%%"} {
		if got, err := ParseCachingLimit(text, 1000); err == nil {
			t.Errorf("%q was taken for %d", text, got)
		}
	}
}

func FuzzParseCachingLimit(f *testing.F) {
	for _, text := range []string{"", "1073741824", "50%", "1e2%", "0x10", "-0%"} {
		f.Add(text, int64(1000))
	}
	f.Fuzz(func(t *testing.T, text string, total int64) {
		total &= 1<<62 - 1
		limit, err := ParseCachingLimit(text, total)
		if err == nil && limit < 0 {
			t.Errorf("%q of %d gave %d", text, total, limit)
		}
		if strings.HasSuffix(strings.TrimSpace(text), "%") && limit > total+total/1000+1 {
			t.Errorf("%q of %d gave %d", text, total, limit)
		}
	})
}
