package pool

import "fmt"

// formatBytes writes a byte count for a sentence, in binary units with one
// decimal: "12.0 MiB". Unknown is "unknown", never a number.
func formatBytes(bytes int64) string {
	if bytes == Unknown {
		return "unknown"
	}
	sign := ""
	size := uint64(bytes)
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

var binaryUnits = [...]string{"KiB", "MiB", "GiB", "TiB", "PiB"}

// countOf writes a number with its noun: "1 segment", "3 segments".
func countOf(number int64, noun string) string {
	if number == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", number, noun)
}
