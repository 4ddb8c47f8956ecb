package model

import "fmt"

// FormatBytes writes a byte count for people, in binary units with one decimal:
// "512 B", "12.0 MiB", "−1.5 GiB".
func FormatBytes(bytes int64) string {
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

var binaryUnits = [...]string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// FormatDuration writes ns for people: "4.2 ms", "1.3 s", "2 min 5 s".
func FormatDuration(ns int64) string {
	switch {
	case ns < 0:
		return "−" + FormatDuration(-ns)
	case ns < 1_000:
		return fmt.Sprintf("%d ns", ns)
	case ns < 1_000_000:
		return fmt.Sprintf("%.1f us", float64(ns)/1e3)
	case ns < 1_000_000_000:
		return fmt.Sprintf("%.1f ms", float64(ns)/1e6)
	case ns < 60_000_000_000:
		return fmt.Sprintf("%.1f s", float64(ns)/1e9)
	}
	seconds := ns / 1_000_000_000
	if seconds < 3600 {
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %d min", seconds/3600, seconds/60%60)
}

// countOf writes a number with its noun: "1 block", "3 blocks".
func countOf(number int64, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}
