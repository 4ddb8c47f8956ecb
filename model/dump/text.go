package dump

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// CleanText replaces what a terminal could take for a command or what turns
// text around: control characters and bidirectional marks become U+FFFD. Names
// in a dump come from strangers.
func CleanText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

var binaryUnits = [...]string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// BytesText writes a byte count for people: "512 B", "12.0 MiB", "−1.5 GiB".
func BytesText(bytes int64) string { return bytesText(bytes) }

func bytesText(bytes int64) string {
	sign, size := "", uint64(bytes)
	if bytes < 0 {
		sign, size = "−", -size
	}
	if size < 1<<10 {
		return fmt.Sprintf("%s%d B", sign, size)
	}
	value, unit := float64(size), -1
	for value >= 1023.95 && unit < len(binaryUnits)-1 {
		value /= 1024
		unit++
	}
	return fmt.Sprintf("%s%.1f %s", sign, value, binaryUnits[unit])
}

// fineText is bytesText with two decimals, for numbers that lie close together.
func fineText(bytes int64) string {
	value, unit := float64(bytes), -1
	for value >= 1023.995 && unit < len(binaryUnits)-1 {
		value /= 1024
		unit++
	}
	if unit < 0 {
		return bytesText(bytes)
	}
	return fmt.Sprintf("%.2f %s", value, binaryUnits[unit])
}

// countOf writes a number with its noun: "1 stack", "3 stacks".
func countOf(number int, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}

// durationText writes microseconds for people, in whole seconds from two
// minutes on.
func durationText(us int64) string {
	duration := time.Duration(us) * time.Microsecond
	if duration > 2*time.Minute {
		duration = duration.Round(time.Second)
	}
	return duration.String()
}
