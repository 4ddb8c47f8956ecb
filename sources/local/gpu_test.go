package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"vramscope/pool"
	"vramscope/pool/cuda"
	"vramscope/recorder"
)

// onCard runs a render on a card in a time of its own, calls at between frames
// and returns the records and how it ended.
func onCard(t *testing.T, c Card, choices GPUOptions, options Options, at func(r *Render)) ([]recorder.Record, error) {
	t.Helper()
	gpu, err := NewGPU(c, choices)
	if err != nil {
		t.Fatal(err)
	}
	options.Device = gpu
	var lines []byte
	r, err := newRender(options, &virtualClock{ns: 1e9}, recorder.Hello{Head: recorder.Head{Src: "pid:7-1"}, PID: 7}, nowhere(), func(record recorder.Record) {
		if lines, err = recorder.AppendLine(lines, record); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r.stream.Emit(&r.hello)
	if at != nil {
		r.boundary = func() { at(r) }
	}
	end := r.run(context.Background())
	return decoded(t, lines), end
}

// healthy are the options of most tests: the card is much larger than what the
// render may take.
func healthy() (*card, GPUOptions) { return newCard(512 << 20), GPUOptions{Memory: MinimumMemory} }

func TestRenderOnACardInEveryTier(t *testing.T) {
	for _, tier := range []pool.Tier{pool.TierA, pool.TierB, pool.TierC, pool.TierFallback} {
		c, choices := healthy()
		choices.Share = 0.05
		free, _, _ := c.Host.MemoryInfo()
		records, err := onCard(t, c, choices, Options{Frames: 60, Tier: tier, RescuedEvery: 20, FailedEvery: 25}, nil)
		if err != nil {
			t.Fatalf("tier %s: %v", tier, err)
		}
		hello := all[*recorder.Hello](records)[0]
		if hello.Name != "host render #1" || hello.Seed != nil || len(hello.GPUs) != 1 || hello.GPUs[0].UUID != c.device.UUID {
			t.Errorf("tier %s: the hello is %+v", tier, hello)
		}
		if frames := all[*recorder.Frame](records); len(frames) != 60 {
			t.Errorf("tier %s: %d frames", tier, len(frames))
		}
		checkAccount(t, tier, records, free)
		checkDriverOOM(t, tier, records, c.device.Total)
		if !c.closed || c.Host.Allocated() != 0 {
			t.Errorf("tier %s: %d bytes are left, closed: %v", tier, c.Host.Allocated(), c.closed)
		}
		if c.largest < 2 {
			t.Errorf("tier %s: the device's work was never in flight", tier)
		}
	}
}

// checkAccount holds the samples to one another: the device's figures are the
// driver's, and what the process has is its allocators and its context.
func checkAccount(t *testing.T, tier pool.Tier, records []recorder.Record, freeAtStart int64) {
	t.Helper()
	shared := int64(0)
	for _, sample := range all[*recorder.Sample](records) {
		device, process := set(sample, recorder.OfDevice), set(sample, recorder.OfProcess)
		used := freeAtStart - value(t, device, recorder.Free)
		mine := value(t, process, recorder.Used)
		own, context := int64(0), int64(0)
		for i := range sample.Sets {
			s := &sample.Sets[i]
			switch {
			case s.ID == "default-pool":
				own += value(t, s, recorder.Reserved)
				shared = max(shared, value(t, s, recorder.Allocated))
			case s.Of == recorder.OfArena:
				own += value(t, s, recorder.Length)
			case s.Of == recorder.OfPool && s.Values.Known(recorder.Reserved):
				own += value(t, s, recorder.Reserved)
			case s.Of == recorder.OfPool: // tier C
				own += value(t, s, recorder.Allocated)
			case s.Of == recorder.OfContext:
				context = value(t, s, recorder.Used)
			}
			if s.Of != recorder.OfHost && s.Device != process.Device {
				t.Fatalf("tier %s: %s is on %q", tier, s.ID, s.Device)
			}
			if s.Call == "" {
				t.Fatalf("tier %s: %s does not say which call its numbers are from", tier, s.ID)
			}
		}
		if context != cardContext || mine != used+context || own > used || own < used-MinimumMemory/8 {
			t.Fatalf("tier %s: the driver gave %d, the process says %d, its allocators %d and the context %d", tier, used, mine, own, context)
		}
	}
	if shared == 0 {
		t.Errorf("tier %s: the default pool was not used", tier)
	}
}

// checkDriverOOM wants an out-of-memory of the driver itself, and that tier B's
// ladder ran for it.
func checkDriverOOM(t *testing.T, tier pool.Tier, records []recorder.Record, total int64) {
	t.Helper()
	driver, limit, steps := 0, 0, 0
	for _, oom := range all[*recorder.OOM](records) {
		if oom.Rule == "" {
			t.Errorf("tier %s: an out-of-memory without a rule: %+v", tier, oom)
		}
		if strings.Contains(oom.Outcome, "the limit refused it") {
			limit++
		}
		if oom.Asked != total {
			continue
		}
		driver++
		if oom.Rescued || !strings.Contains(oom.Outcome, "dropped") || strings.Contains(oom.Outcome, "the limit") {
			t.Errorf("tier %s: the driver's out-of-memory ends with %q", tier, oom.Outcome)
		}
		steps += len(oom.Steps)
		if (tier == pool.TierA || tier == pool.TierC) != (oom.ID == "device") {
			t.Errorf("tier %s: the out-of-memory is %s's", tier, oom.ID)
		}
	}
	if driver == 0 || tier == pool.TierB && (limit == 0 || steps == 0) {
		t.Errorf("tier %s: %d of the driver with %d steps of the ladder, %d of the limit", tier, driver, steps, limit)
	}
}

// Wherever the device is lost, the render ends with that error, quietly: no
// window is said to be dropped, and nothing panics.
func TestLostDeviceEndsTheRender(t *testing.T) {
	c, choices := healthy()
	if _, err := onCard(t, c, choices, Options{Frames: 8, RescuedEvery: 3, FailedEvery: 4}, nil); err != nil {
		t.Fatal(err)
	}
	calls := c.calls
	if calls < 200 {
		t.Fatalf("8 frames are %d calls only", calls)
	}
	for at := 12; at < calls; at += 41 {
		c, choices := healthy()
		choices.Share = 0.05
		c.loseAt = at
		records, err := onCard(t, c, choices, Options{Frames: 8, RescuedEvery: 3, FailedEvery: 4}, nil)
		var lost *cuda.LostError
		if !errors.As(err, &lost) {
			t.Fatalf("lost at call %d of %d: the render ended with %v", at, calls, err)
		}
		for _, note := range all[*recorder.Note](records) {
			if strings.Contains(note.Text, "lost") {
				t.Errorf("lost at call %d: a note says %q", at, note.Text)
			}
		}
	}
}

func TestWrongAddressIsNoticed(t *testing.T) {
	c, choices := healthy()
	c.shift = 1
	_, err := onCard(t, c, choices, Options{Frames: 20}, nil)
	var wrong *MemoryError
	if !errors.As(err, &wrong) {
		t.Fatalf("the render ended with %v", err)
	}
}

// A block of the pool that goes from one stream to another waits for what the
// first one still does to it. Where the streams' order is not kept, that shows.
func TestStreamsOfACardAreOrdered(t *testing.T) {
	for _, chaos := range []bool{false, true} {
		c, choices := healthy()
		c.chaos = chaos
		gpu, err := NewGPU(c, choices)
		if err != nil {
			t.Fatal(err)
		}
		m, err := newMemory(gpu, pool.TierB, pool.Options{})
		if err != nil {
			t.Fatal(err)
		}
		whole := func(*tenant) bool { return true }
		kept, err := m.allocate(ownsTextures, 1<<20, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.allocate(ownsImports, 4<<20, 1, 0); err != nil {
			t.Fatal(err)
		}
		c.drain()
		m.free(ownsImports, whole)
		if _, err = m.allocate(ownsImports, 4<<20, 1, 0); err != nil { // work in flight from here on
			t.Fatal(err)
		}
		m.free(ownsImports, whole)
		// Smaller blocks begin at other addresses, and so hold other bytes.
		var late []*tenant
		for range 3 {
			block, err := m.allocate(ownsImports, 1<<20, 3, 0)
			if err != nil {
				t.Fatal(err)
			}
			late = append(late, block)
		}
		if err := gpu.Settle(); err != nil {
			t.Fatal(err)
		}
		var wrong *MemoryError
		for _, block := range append(late, kept) {
			m.breaks(gpu.Check(block.address, block.bytes, block.stream))
		}
		if errors.As(m.broken, &wrong) != chaos {
			t.Errorf("without the order of streams: %v; the memory says %v", chaos, m.broken)
		}
		m.broken = nil
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestForceReclaimOnACardNamesEveryStep(t *testing.T) {
	c, choices := healthy()
	choices.Share = 0.1
	_, err := onCard(t, c, choices, Options{Frames: 40}, once(25, func(r *Render) {
		settled := c.settled
		// A block of the default pool that nobody uses any more.
		r.freeShared(func(sharedBlock) bool { return true })
		ack := r.do(command(recorder.CommandForceReclaim))
		var steps []string
		for _, line := range ack.Result {
			what, _, _ := strings.Cut(line.What, ":")
			steps = append(steps, what)
		}
		if want := []string{"collect", "wait for the device", "empty caches", "trim the device's default pool"}; !slices.Equal(steps, want) {
			t.Errorf("the steps are %q", steps)
			return
		}
		if c.settled == settled || ack.Result[1].Took <= 0 {
			t.Errorf("the wait is %+v", ack.Result[1])
		}
		for _, line := range ack.Result[2:] {
			if line.Freed == nil || *line.Freed <= 0 || *line.After-*line.Before != *line.Freed {
				t.Errorf("%s: %d → %d, %d freed", line.What, *line.Before, *line.After, *line.Freed)
			}
		}
		if len(ack.Before) != 3 || ack.Before[2].ID != "default-pool" {
			t.Errorf("before: %+v", ack.Before)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
}

func TestResetPeakOnACardMeetsTheDefaultPool(t *testing.T) {
	c, choices := healthy()
	choices.Share = 0.1
	_, err := onCard(t, c, choices, Options{Frames: 30}, once(25, func(r *Render) {
		r.freeShared(func(sharedBlock) bool { return true })
		ack := r.do(command(recorder.CommandResetPeak))
		line := ack.Result[len(ack.Result)-1]
		if !strings.Contains(line.What, "default pool") || *line.Before <= 0 || *line.After != 0 {
			t.Errorf("%s: %d → %d", line.What, *line.Before, *line.After)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
}

func TestRebuildOnACardIsRefusedThenDone(t *testing.T) {
	c, choices := healthy()
	_, err := onCard(t, c, choices, Options{Frames: jobFrames}, once(10, func(r *Render) {
		settled := c.settled
		if ack := r.do(command(recorder.CommandRebuild)); ack.State != recorder.AckFailed || c.settled != settled {
			t.Errorf("over live blocks: %+v", ack)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, choices = healthy()
	_, err = onCard(t, c, choices, Options{Frames: jobFrames + 5}, betweenJobs(func(r *Render) {
		ack := r.do(command(recorder.CommandRebuild))
		if ack.State != recorder.AckDone || len(ack.Result) != 2 || *ack.Result[1].Freed <= 0 ||
			*ack.Result[1].After-*ack.Result[1].Before != *ack.Result[1].Freed {
			t.Errorf("between jobs: %+v", ack)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// A neighbour that takes everything stops no render: it waits for room.
func TestNoRoomForAnArenaIsWaitedOut(t *testing.T) {
	c, choices := healthy()
	taken, until := false, int64(0)
	records, err := onCard(t, c, choices, Options{Frames: jobFrames + 3}, func(r *Render) {
		switch {
		case r.arena == nil && !taken:
			taken, until = true, r.clock.now()+3e9
			_, _ = r.memory.tiered.ReleaseFreeSegments()
			if err := c.Host.SetForeign(512<<20 - c.Host.Allocated()); err != nil {
				t.Error(err)
			}
		case taken && r.clock.now() > until:
			_ = c.Host.SetForeign(cardContext)
		}
	})
	if err != nil || !taken {
		t.Fatalf("the render ended with %v", err)
	}
	if !slices.ContainsFunc(all[*recorder.Note](records), func(note *recorder.Note) bool { return strings.Contains(note.Text, "no room for an arena") }) {
		t.Error("nobody says that there was no room")
	}
}

func TestMemoryOfACardIsBounded(t *testing.T) {
	const mib = 1 << 20
	// 512 MiB, of which the context has 16 and the reserve is 32.
	for _, c := range []struct {
		asked, want int64
		oversized   bool
	}{
		{0, 232 * mib, false}, {64 * mib, 64 * mib, false}, {464 * mib, 464 * mib, false}, {465 * mib, 0, false},
		{16 * mib, 0, false}, {600 * mib, 600 * mib, true},
	} {
		gpu, err := NewGPU(newCard(512*mib), GPUOptions{Memory: c.asked, Oversized: c.oversized})
		if err == nil {
			_, err = Options{Device: gpu}.withDefaults()
		}
		var refused *OptionError
		switch {
		case c.want == 0 && !errors.As(err, &refused):
			t.Errorf("%d MiB: %v, want a refusal", c.asked/mib, err)
		case c.want > 0 && (err != nil || gpu.Identity().Budget != c.want):
			t.Errorf("%d MiB: %v, want %d MiB", c.asked/mib, err, c.want/mib)
		}
	}
	full := newCard(512 * mib)
	_ = full.Host.SetForeign(500 * mib)
	_, err := NewGPU(full, GPUOptions{})
	if err == nil || !strings.Contains(err.Error(), "12.0 MiB of 512.0 MiB free") || !full.closed {
		t.Errorf("a full card: %v", err)
	}
	if _, err := NewGPU(newCard(512*mib), GPUOptions{Share: 0.7}); err == nil {
		t.Error("a share of 0.7 is taken")
	}
}

// Managed memory is bounded as plain memory is, and what the driver refuses
// beyond that is its own refusal.
func TestManagedMemoryKeepsToTheLimit(t *testing.T) {
	c := newCard(512 << 20)
	gpu, err := NewGPU(c, GPUOptions{Memory: 100 << 20})
	if err != nil {
		t.Fatal(err)
	}
	address, err := gpu.AllocateManaged(60 << 20)
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if _, err := gpu.AllocateManaged(50 << 20); !errors.As(err, &limit) || limit.Taken != 60<<20 {
		t.Errorf("beyond the limit: %v", err)
	}
	if rule, ok := pool.Classify(limit); !ok || rule != pool.RuleType {
		t.Errorf("the limit is classified %q, %v", rule, ok)
	}
	_ = c.Host.SetForeign(512<<20 - 60<<20)
	var managed *cuda.ManagedLimitError
	if _, err := gpu.AllocateManaged(30 << 20); !errors.As(err, &managed) || gpu.Refusal() == "" {
		t.Errorf("beyond what is free: %v, %q", err, gpu.Refusal())
	}
	if err := gpu.Free(address, 60<<20); err != nil {
		t.Error(err)
	}
	if err := gpu.Close(); err != nil {
		t.Error(err)
	}
}
