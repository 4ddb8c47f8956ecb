package arena

import (
	"fmt"
	"math"
)

// Config says what an arena is made of. The zero value is an empty managed
// arena, in which nothing but empty allocations fits.
type Config struct {
	// Name tells arenas apart in records and errors.
	Name string

	// Bytes is the length. Where it is 0, the length is that of Memory if
	// given, else Available*Portion rounded down, else 1 for an unmanaged
	// arena. A negative length counts as 0.
	Bytes int64
	// Available is how many bytes there are to take a Portion of.
	Available int64
	// Portion is the fraction of Available to take; algan renders with 0.4.
	Portion float64

	// Unmanaged arenas hand out ordinary Go memory and move no pointers.
	Unmanaged bool

	// Memory is the caller's host buffer, at least Bytes long. Nil lets the
	// arena make its own, unless Base is given.
	Memory []byte
	// Base is the device address of the buffer. Without Memory the arena has
	// no view of the bytes and hands out offsets only. The buffer remains its
	// owner's to free.
	Base uint64

	// Poison fills every allocation with a byte. The zero value is off.
	Poison Poison
	// Fill writes value over device memory, bytes long from offset. It serves
	// Poison where there is no Memory, and is needed only for that.
	Fill func(offset, bytes int64, value byte) error

	// Observer is told of everything, from OpNew on. Nil: nobody observes.
	Observer Observer
}

// ConfigError says which field of a Config cannot be meant.
type ConfigError struct {
	Field   string // name of the field in Config
	Problem string // what is wrong, and what to do
}

// Error is the problem as a sentence that says what to do.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("arena configuration: %s %s", e.Field, e.Problem)
}

// length is the arena's size in bytes, never negative.
func (c *Config) length() (int64, error) {
	switch {
	case c.Bytes != 0:
		return max(c.Bytes, 0), nil
	case c.Memory != nil:
		return int64(len(c.Memory)), nil
	case c.Available != 0 || c.Portion != 0:
		return c.portion()
	case c.Unmanaged:
		return 1, nil
	default:
		return 0, nil
	}
}

// portion is Available*Portion, rounded down and not below zero.
func (c *Config) portion() (int64, error) {
	product := float64(c.Available) * c.Portion
	switch {
	case math.IsNaN(product) || product >= math.MaxInt64:
		return 0, &ConfigError{"Portion", fmt.Sprintf(
			"%g of %d bytes is no size; pass a fraction between 0 and 1", c.Portion, c.Available)}
	case product <= 0:
		return 0, nil
	default:
		return int64(product), nil
	}
}

// check refuses combinations that contradict each other.
func (c *Config) check(length int64) error {
	switch {
	case c.Unmanaged && (c.Memory != nil || c.Base != 0):
		return &ConfigError{"Unmanaged", "arenas use no buffer; leave Memory and Base empty"}
	case c.Memory != nil && length > int64(len(c.Memory)):
		return &ConfigError{"Memory", fmt.Sprintf(
			"has %d bytes and Bytes asks for %d; pass a buffer at least that long", len(c.Memory), length)}
	case c.Base != 0 && c.Base > math.MaxUint64-uint64(length):
		return &ConfigError{"Base", fmt.Sprintf(
			"%#x leaves no room for %d bytes; pass the buffer's own address", c.Base, length)}
	case c.Poison.on && c.Base != 0 && c.Memory == nil && c.Fill == nil:
		return &ConfigError{"Poison", "cannot be written without a host view; pass Fill or turn it off"}
	}
	return nil
}
