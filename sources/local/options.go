package local

import (
	"fmt"
	"time"

	"vramscope/pool"
)

// Options are the choices of a render. The zero value is the default of
// each.
type Options struct {
	Seed   int64         // decides everything that looks like chance
	Memory int64         // of the device that it plays, in bytes; 0 is 512 MiB. A sixteenth of it is really used
	Speed  float64       // frames a second on the average; 0 is 10, and Fastest leaves no pause
	Hz     float64       // samples a second; 0 is 10
	Frames int64         // ends after so many; 0 is no end
	For    time.Duration // ends after so long; 0 is no end
	Tier   pool.Tier     // of the pool; TierNone lets the environment and the device choose

	// Device is where the memory is; nil is host memory that plays a device of
	// Memory bytes. The device's own budget counts in place of Memory. The
	// render closes it at its end.
	Device Device

	// How often something goes wrong, in frames; 0 is the default, and Never
	// is never.
	FullEvery    int64 // the arena fills, and a window is split and retried: 31
	RescuedEvery int64 // the pool runs out of memory, and the failure callback makes room: 53
	FailedEvery  int64 // it runs out, and nothing helps: 89
}

// Fastest as Options.Speed leaves no pause between frames. Never as an interval
// turns it off.
const (
	Fastest float64 = -1
	Never   int64   = -1
)

// The bounds of Options.
const (
	MinimumMemory int64 = 32 << 20 // bytes
	MaximumMemory int64 = 1 << 40  // bytes
	maximumSpeed        = 10_000   // frames a second
	maximumHz           = 1_000    // samples a second
)

// OptionError refuses an option.
type OptionError struct {
	Program string // whose option it is; "" is the demo
	Option  string // "memory", "speed", "hz", "frames", "duration"
	Reason  string // what is asked of it
}

// Error is one sentence that says what to do.
func (e *OptionError) Error() string {
	program := e.Program
	if program == "" {
		program = "the demo"
	}
	return fmt.Sprintf("%s's %s: %s", program, e.Option, e.Reason)
}

// withDefaults is the options with every default in its place, or an
// *OptionError.
func (o Options) withDefaults() (Options, error) {
	program := ""
	if o.Device != nil {
		program, o.Memory = o.Device.Identity().Called, o.Device.Identity().Budget
	}
	setDefault(&o.Memory, 512<<20)
	setDefault(&o.Speed, 10)
	setDefault(&o.Hz, 10)
	setDefault(&o.FullEvery, 31)
	setDefault(&o.RescuedEvery, 53)
	setDefault(&o.FailedEvery, 89)
	refuse := func(option, reason string, arguments ...any) (Options, error) {
		return Options{}, &OptionError{Program: program, Option: option, Reason: fmt.Sprintf(reason, arguments...)}
	}
	switch {
	case o.Memory < MinimumMemory || o.Memory > MaximumMemory:
		return refuse("memory", "give it between 32 MiB and 1 TiB, not %s", sizeText(o.Memory))
	case o.Speed != Fastest && !(o.Speed > 0 && o.Speed <= maximumSpeed):
		return refuse("speed", "ask for more than 0 and at most %d frames a second, not %g", maximumSpeed, o.Speed)
	case !(o.Hz > 0 && o.Hz <= maximumHz):
		return refuse("hz", "ask for more than 0 and at most %d samples a second, not %g", maximumHz, o.Hz)
	case o.Frames < 0:
		return refuse("frames", "ask for 0 (no end) or more, not %d", o.Frames)
	case o.For < 0:
		return refuse("duration", "ask for 0 (no end) or more, not %v", o.For)
	}
	return o, nil
}

func setDefault[T int64 | float64](value *T, standard T) {
	if *value == 0 {
		*value = standard
	}
}
