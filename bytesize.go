package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a number of bytes on the command line or in the configuration
// file: "2GiB", "512 MiB", "1.5G" (binary), "2GB" (decimal), or plain bytes.
// It is zero or more and fits int64.
type byteSize int64

var byteUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

// Set parses text; it satisfies the flag interface.
func (s *byteSize) Set(text string) error {
	trimmed := strings.TrimSpace(text)
	digits := strings.IndexFunc(trimmed, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if digits < 0 {
		digits = len(trimmed)
	}
	number, err := strconv.ParseFloat(trimmed[:digits], 64)
	unit, known := byteUnits[strings.ToLower(strings.TrimSpace(trimmed[digits:]))]
	bytes := number * unit
	if err != nil || !known || math.IsNaN(bytes) || bytes < 0 || bytes >= math.MaxInt64 {
		return fmt.Errorf("%q is no size: write it as 512MiB, 2GiB, 2GB or plain bytes", text)
	}
	*s = byteSize(bytes)
	return nil
}

// String is the size in the largest binary unit that keeps it exact.
func (s *byteSize) String() string {
	value := int64(*s)
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if value != 0 && value%unit.bytes == 0 {
			return strconv.FormatInt(value/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(value, 10)
}

// Type names the kind of value in help texts.
func (s *byteSize) Type() string { return "size" }

// UnmarshalText reads the size from a configuration file.
func (s *byteSize) UnmarshalText(text []byte) error { return s.Set(string(text)) }
