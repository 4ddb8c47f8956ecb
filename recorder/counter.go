package recorder

// Counter is a number that a source can report. Its name on the wire is a
// word of the field (DESIGN, "Words"). All are bytes unless their comment
// says otherwise.
type Counter uint8

// The counters.
const (
	Total           Counter = iota // device or host: all of it
	Free                           // device: free as the driver says; pool: in free blocks; arena: between the pointers
	Used                           // device: used as the driver says, its own reserve apart; process: used by it
	DriverReserved                 // device: held by the driver itself (NVML v2)
	Reserved                       // allocator: taken from the driver
	Allocated                      // allocator: in blocks handed out
	Active                         // allocator: handed out or waiting on a stream
	Requested                      // allocator: asked for by callers
	Releasable                     // allocator: in segments that are wholly free
	LargestFree                    // allocator: largest free block
	FreeBlocks                     // count
	LiveBlocks                     // count
	Segments                       // count
	PeakAllocated                  // since the last peak reset
	PeakReserved                   // since the last peak reset
	PeakRequested                  // since the last peak reset
	LifetimeBytes                  // allocated over the generation's life
	LifetimeCount                  // count
	Limit                          // the most that it may take
	Retries                        // count: allocation retries
	OOMs                           // count: out of memory
	Generation                     // number
	LadderUsed                     // count: failure callback retries spent, 0..5
	LadderCooldown                 // ns until the ladder is whole again
	LadderExhausted                // count
	Length                         // arena: its length
	Forward                        // arena: forward pointer
	Reverse                        // arena: reverse pointer
	HighWater                      // arena: simultaneous maximum
	OpenScopes                     // count
	PeakLive                       // peaks: the resettable live peak
	PeakFloor                      // peaks: displaced by regions
	PeakOpen                       // peaks: the largest peak saved by an open region
	PeakReported                   // peaks: max(live, floor, open)
	PeakCompatible                 // peaks: without what open regions saved, as algan counts
	Available                      // host: available
	CgroupCurrent                  // host: in the cgroup
	CgroupLimit                    // host: the cgroup's limit
	Resident                       // process: resident set
	Utilization                    // device: percent of time a kernel ran
	Temperature                    // device: degrees Celsius
	Power                          // device: milliwatts
	Clock                          // device: MHz of the SM clock
	PCIeReceive                    // device: bytes a second
	PCIeTransmit                   // device: bytes a second
	CPUTime                        // process: ns of processor time so far
	Age                            // device: ns since it was read, where that was before the sample
	counterCount
)

// NumCounters is how many counters there are.
const NumCounters = int(counterCount)

var counterNames = [NumCounters]string{
	"total", "free", "used", "driver_reserved", "reserved", "allocated", "active", "requested", "releasable",
	"largest_free", "free_blocks", "live_blocks", "segments", "peak_allocated", "peak_reserved", "peak_requested",
	"lifetime_bytes", "lifetime_count", "limit", "retries", "ooms", "generation", "ladder_used", "ladder_cooldown",
	"ladder_exhausted", "length", "forward", "reverse", "high_water", "open_scopes", "peak_live", "peak_floor",
	"peak_open", "peak_reported", "peak_compatible", "available", "cgroup_current", "cgroup_limit", "resident",
	"utilization", "temperature", "power", "clock", "pcie_receive", "pcie_transmit", "cpu_time",
	"age",
}

// String is the counter's name on the wire.
func (c Counter) String() string {
	if int(c) < NumCounters {
		return counterNames[c]
	}
	return "unknown"
}

// CounterByName finds a counter by its name on the wire.
func CounterByName(name string) (Counter, bool) {
	c, ok := counterByName[name]
	return c, ok
}

var counterByName = func() map[string]Counter {
	names := make(map[string]Counter, NumCounters)
	for c, name := range counterNames {
		names[name] = Counter(c)
	}
	return names
}()

// Counters is a set of counters, each known or not. The zero value knows
// none. It is a value: copying it copies the numbers.
type Counters struct {
	known  uint64
	values [NumCounters]int64
}

// Get is the counter's value, and whether it is known.
func (c *Counters) Get(counter Counter) (int64, bool) {
	return c.values[counter], c.known&(1<<counter) != 0
}

// Set makes the counter known.
func (c *Counters) Set(counter Counter, value int64) {
	c.values[counter] = value
	c.known |= 1 << counter
}

// Unset makes the counter unknown.
func (c *Counters) Unset(counter Counter) {
	c.values[counter] = 0
	c.known &^= 1 << counter
}

// Known says whether the counter has a value.
func (c *Counters) Known(counter Counter) bool { return c.known&(1<<counter) != 0 }

// Len is how many counters are known.
func (c *Counters) Len() int {
	n := 0
	for k := c.known; k != 0; k &= k - 1 {
		n++
	}
	return n
}
