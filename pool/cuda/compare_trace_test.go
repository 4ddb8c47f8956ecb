//go:build cuda && linux && cgo

package cuda

import (
	"compress/gzip"
	"os"
	"testing"
	"time"

	"vramscope/pool"
	"vramscope/pool/cuda/cudatest"
	"vramscope/recorder"
	"vramscope/recorder/torchsnap"
)

// replay is what an allocator needed for the history of a real program. All sizes
// are bytes.
type replay struct {
	Name         string
	Events       int
	PeakLive     int64 // the most that was asked for and live
	PeakReserved int64 // the most that was taken from the device
	// At the moment of the peak, and at the end of the history:
	PeakFree, PeakLargest int64
	EndFree, EndLargest   int64
	Reserved              int64   // at the end
	Segments              int     // at the end
	NsEvent               float64 // by event; 0 for torch, which was not replayed
}

const training = "../../recorder/torchsnap/testdata/resnet18-train.pickle.gz"

// A training run goes through both pools without an event that does
// not fit: what they say they needed is what that run would have needed.
func TestTraceOfATrainingRunIsReplayed(t *testing.T) {
	if cudatest.Child(t, cudatest.Options{Memory: 64 << 30}) == nil {
		return
	}
	c := open(t, Options{})
	before := free(t, c)
	replays := replayTrace(t, c, training)
	if len(replays) != 3 {
		t.Fatalf("%d replays", len(replays))
	}
	torch := replays[0]
	if torch.Events < 1000 || torch.PeakLive < 100*mebibyte || torch.PeakReserved < torch.PeakLive {
		t.Errorf("the history says %+v", torch)
	}
	for _, r := range replays[1:] {
		if r.Events != torch.Events || r.PeakLive != torch.PeakLive || r.PeakReserved < r.PeakLive {
			t.Errorf("%+v beside %+v", r, torch)
		}
	}
	if after := free(t, c); after != before {
		t.Errorf("%d of %d bytes are free again", after, before)
	}
}

// replayTrace reads a dump of torch's and lets both pools do what it tells. The
// first answer is torch's own.
func replayTrace(t *testing.T, c *Context, path string) []replay {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	inflated, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	dump, err := torchsnap.Read(inflated, torchsnap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var device *recorder.DumpDevice
	for i := range dump.Devices {
		if d := &dump.Devices[i]; !d.Host && (device == nil || d.Events.Len() > device.Events.Len()) {
			device = d
		}
	}
	torch, peak := needOfTorch(device)
	replays := []replay{torch}
	for name, make := range map[string]func() pool.Suballocator{
		"Pool":        func() pool.Suballocator { return must(pool.NewPool(c, pool.PoolOptions{})) },
		"CachingPool": func() pool.Suballocator { return must(pool.NewCachingPool(c, pool.CachingPoolOptions{})) },
	} {
		r := replayInto(t, make(), &device.Events, peak)
		r.Name, r.PeakLive = name, torch.PeakLive
		replays = append(replays, r)
	}
	return replays
}

// needOfTorch adds up what the history says of torch, and finds the event at which
// the most was live.
func needOfTorch(device *recorder.DumpDevice) (need replay, peak int) {
	need.Name = "torch"
	events := &device.Events
	var live, reserved int64
	for _, segment := range device.Segments {
		need.Reserved += segment.Bytes
	}
	need.Segments = len(device.Segments)
	reserved = need.Reserved // what stood before the history began
	for i, action := range events.Action {
		switch action {
		case recorder.DumpSegmentAlloc:
			reserved -= events.Bytes[i]
		case recorder.DumpSegmentFree:
			reserved += events.Bytes[i]
		}
	}
	for i, action := range events.Action {
		switch action {
		case recorder.DumpSegmentAlloc:
			reserved += events.Bytes[i]
		case recorder.DumpSegmentFree:
			reserved -= events.Bytes[i]
		case recorder.DumpAlloc:
			need.Events++
			live += events.Bytes[i]
		case recorder.DumpFreeCompleted:
			need.Events++
			live -= events.Bytes[i]
		}
		if live > need.PeakLive {
			need.PeakLive, peak = live, i
		}
		need.PeakReserved = max(need.PeakReserved, reserved)
	}
	need.PeakFree, need.PeakLargest = pool.Unknown, pool.Unknown // the history does not say
	for i, state := range device.Blocks.State {
		if state == recorder.DumpInactive {
			need.EndFree += device.Blocks.Bytes[i]
			need.EndLargest = max(need.EndLargest, device.Blocks.Bytes[i])
		}
	}
	return need, peak
}

// replayInto lets a pool do what the history tells, on one stream as it was.
func replayInto(t *testing.T, p pool.Suballocator, events *recorder.DumpEvents, peak int) (done replay) {
	live := make(map[uint64]compareBlock, 4096)
	start := time.Now()
	for i, action := range events.Action {
		switch action {
		case recorder.DumpAlloc:
			block := compareBlock{bytes: events.Bytes[i]}
			var err error
			if block.address, err = p.Allocate(block.bytes, 0); err != nil {
				t.Fatal(err)
			}
			live[events.Address[i]] = block
			done.Events++
		case recorder.DumpFreeCompleted:
			done.Events++
			block, ok := live[events.Address[i]]
			if !ok {
				continue // it was there before the history began
			}
			delete(live, events.Address[i])
			if err := p.Free(block.address, block.bytes, 0); err != nil {
				t.Fatal(err)
			}
		}
		if i == peak {
			usage := p.Usage()
			done.PeakFree, done.PeakLargest = usage.Free, usage.LargestFree
		}
	}
	done.NsEvent = float64(time.Since(start).Nanoseconds()) / float64(done.Events)
	usage := p.Usage()
	done.PeakReserved, done.Reserved, done.Segments = usage.PeakReserved, usage.Reserved, usage.Segments
	done.EndFree, done.EndLargest = usage.Free, usage.LargestFree
	if err := p.CloseOverLive(); err != nil {
		t.Fatal(err)
	}
	return done
}
