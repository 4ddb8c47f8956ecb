package grid

import (
	"math"
	"strconv"
)

// Missing is the number that is not known. Every function here writes it as
// an en dash, never as zero; why it is missing is said elsewhere.
const Missing = math.MinInt64

// Known is a number, or Missing where it is not known.
func Known(n int64, known bool) int64 {
	if known {
		return n
	}
	return Missing
}

// unknown is how Missing reads.
const unknown = "–"

// The units of memory: 1 KiB is 1,024 bytes.
var byteUnits = [...]string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// AppendBytes writes a number of bytes with one decimal in the largest unit
// that keeps it at 1 or more: "0 B", "1023 B", "1.5 KiB", "14.8 GiB". It takes
// at most 10 columns, 11 below zero.
func AppendBytes(dst []byte, n int64) []byte {
	if n == Missing {
		return append(dst, unknown...)
	}
	dst, size := sign(dst, n)
	if size < 1024 {
		dst = strconv.AppendUint(dst, size, 10)
		return append(dst, " B"...)
	}
	unit := 0
	for limit := size; limit >= 1024; limit /= 1024 {
		unit++
	}
	tenths := roundedTenths(size, uint64(1)<<(10*unit))
	if tenths >= 10240 { // 1023.96 KiB rounds to 1.0 MiB
		unit, tenths = unit+1, 10
	}
	dst = appendTenths(dst, tenths)
	dst = append(dst, ' ')
	return append(dst, byteUnits[unit]...)
}

// AppendShort writes a number of bytes in at most 5 columns (6 below zero), for
// axes and narrow columns: "999B", "1.5K", "47.6G", "140G". The letters stand
// for B, KiB, MiB and so on.
func AppendShort(dst []byte, n int64) []byte {
	if n == Missing {
		return append(dst, unknown...)
	}
	dst, size := sign(dst, n)
	unit, step := 0, uint64(1)
	for roundedTenths(size, step) >= 9995 {
		unit, step = unit+1, step<<10
	}
	if tenths := roundedTenths(size, step); unit == 0 || tenths >= 1000 {
		dst = strconv.AppendUint(dst, (tenths+5)/10, 10)
	} else {
		dst = appendTenths(dst, tenths)
	}
	return append(dst, byteUnits[unit][0])
}

// AppendGiB writes a number of bytes in GiB with one decimal and no unit, for
// lines and columns whose unit is said once: "71.2". Something that rounds to
// nothing reads "<0.1", so that it is not taken for zero.
func AppendGiB(dst []byte, n int64) []byte {
	if n == Missing {
		return append(dst, unknown...)
	}
	tenths := roundedTenths(magnitude(n), 1<<30)
	if tenths == 0 && n != 0 {
		return append(dst, "<0.1"...)
	}
	dst, _ = sign(dst, n)
	return appendTenths(dst, tenths)
}

// AppendExact writes a number of bytes to the byte: "15,891,456,000 B".
func AppendExact(dst []byte, n int64) []byte {
	dst = AppendCount(dst, n)
	return append(dst, " B"...)
}

// AppendCount writes a whole number with a comma between thousands: "5,120".
func AppendCount(dst []byte, n int64) []byte {
	if n == Missing {
		return append(dst, unknown...)
	}
	dst, size := sign(dst, n)
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = byte('0' + size%10)
		size /= 10
		if size == 0 {
			break
		}
	}
	for j := i; j < len(digits); j++ {
		if j > i && (len(digits)-j)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, digits[j])
	}
	return dst
}

// AppendPercent writes part of a whole as "71 %"; under 10 % with one decimal,
// "1.4 %". Where either is missing or the whole is not above zero it is
// unknown. A part that is not zero never reads "0.0 %" but "<0.1 %", and one
// that is not the whole never "100 %" but "99.9 %" at most.
func AppendPercent(dst []byte, part, whole int64) []byte {
	if part == Missing || whole == Missing || whole <= 0 {
		return append(dst, unknown...)
	}
	tenths := int64(min(math.Round(float64(part)/float64(whole)*1000), 1e15))
	if part < whole {
		tenths = min(tenths, 999)
	}
	if tenths == 0 && part != 0 {
		return append(dst, "<0.1 %"...)
	}
	dst, size := sign(dst, tenths)
	if size < 100 || size >= 995 && size < 1000 {
		return append(appendTenths(dst, size), " %"...)
	}
	return append(strconv.AppendUint(dst, (size+5)/10, 10), " %"...)
}

// AppendDuration writes a time in nanoseconds in three digits or so: "850 ns",
// "12.3 us", "4.0 ms", "0.4 s" is "400 ms", "59.9 s", "1 m 05 s", "2 h 03 m",
// "3 d 04 h".
func AppendDuration(dst []byte, nanoseconds int64) []byte {
	if nanoseconds == Missing {
		return append(dst, unknown...)
	}
	dst, n := sign(dst, nanoseconds)
	const second, minute, hour, day = uint64(1e9), uint64(60e9), uint64(3600e9), uint64(86400e9)
	switch {
	case n < 1000:
		return append(strconv.AppendUint(dst, n, 10), " ns"...)
	case roundedTenths(n, 1e3) < 10_000:
		return append(appendShort(dst, n, 1e3), " us"...)
	case roundedTenths(n, 1e6) < 10_000:
		return append(appendShort(dst, n, 1e6), " ms"...)
	case roundedTenths(n, second) < 600:
		return append(appendTenths(dst, roundedTenths(n, second)), " s"...)
	case n+second/2 < hour:
		return appendPair(dst, (n+second/2)/second, 60, " m ", " s")
	case n+minute/2 < day:
		return appendPair(dst, (n+minute/2)/minute, 60, " h ", " m")
	default:
		return appendPair(dst, (n+hour/2)/hour, 24, " d ", " h")
	}
}

// AppendSeconds writes a time in nanoseconds in seconds with one decimal and
// no unit, for axes: "-12.5".
func AppendSeconds(dst []byte, nanoseconds int64) []byte {
	if nanoseconds == Missing {
		return append(dst, unknown...)
	}
	dst, n := sign(dst, nanoseconds)
	return appendTenths(dst, roundedTenths(n, 1e9))
}

// AppendRate writes bytes in a second: "1.2 GiB/s".
func AppendRate(dst []byte, bytesPerSecond int64) []byte {
	dst = AppendBytes(dst, bytesPerSecond)
	if bytesPerSecond == Missing {
		return dst
	}
	return append(dst, "/s"...)
}

// AppendHertz writes a frequency given in thousandths of a hertz: "10 Hz",
// "0.5 Hz".
func AppendHertz(dst []byte, millihertz int64) []byte {
	if millihertz == Missing {
		return append(dst, unknown...)
	}
	dst, n := sign(dst, millihertz)
	return append(appendShort(dst, n, 1000), " Hz"...)
}

// AppendFactor writes a ratio as a factor with one decimal, without its sign
// of multiplication: "4.7". It is unknown where the base is not above zero.
func AppendFactor(dst []byte, part, base int64) []byte {
	if part == Missing || base == Missing || base <= 0 {
		return append(dst, unknown...)
	}
	return strconv.AppendFloat(dst, float64(part)/float64(base), 'f', 1, 64)
}

// AppendDelta writes a difference of bytes with its sign: "+1.5 GiB",
// "-512 B", "0 B".
func AppendDelta(dst []byte, n int64) []byte {
	if n > 0 {
		dst = append(dst, '+')
	}
	return AppendBytes(dst, n)
}

// magnitude is a number without its sign; Missing must not come here.
func magnitude(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// sign writes a minus where there is one and returns the number without it.
func sign(dst []byte, n int64) ([]byte, uint64) {
	if n < 0 {
		dst = append(dst, '-')
	}
	return dst, magnitude(n)
}

// roundedTenths is size/unit in tenths, rounded half up, without overflow.
func roundedTenths(size, unit uint64) uint64 {
	return size/unit*10 + (size%unit*10+unit/2)/unit
}

// appendTenths writes tenths as a number with one decimal.
func appendTenths(dst []byte, tenths uint64) []byte {
	dst = strconv.AppendUint(dst, tenths/10, 10)
	return append(dst, '.', byte('0'+tenths%10))
}

// appendShort writes size/unit with one decimal under 100 where it is not
// whole, and none above.
func appendShort(dst []byte, size, unit uint64) []byte {
	tenths := roundedTenths(size, unit)
	if tenths < 1000 && (tenths%10 != 0 || size%unit != 0) {
		return appendTenths(dst, tenths)
	}
	return strconv.AppendUint(dst, (tenths+5)/10, 10)
}

// appendPair writes a number as two units, the second with two digits.
func appendPair(dst []byte, n, base uint64, first, second string) []byte {
	dst = append(strconv.AppendUint(dst, n/base, 10), first...)
	return append(append(dst, byte('0'+n%base/10), byte('0'+n%base%10)), second...)
}
