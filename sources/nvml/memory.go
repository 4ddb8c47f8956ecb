package nvml

import (
	"fmt"
	"strconv"
	"strings"
)

// memoryReader asks one device for its memory. It remembers what the device
// cannot answer.
//
// v1 counts the driver's own reserve as used and v2 does not: on an idle H200
// v1 says 644,939,776 bytes used where v2 says 644,939,776 reserved and 0
// used. v2 needs R510, and fails under WSL with the symbol there, so that any
// failure of it leads to v1 for good if v1 then answers.
type memoryReader struct {
	v1Only  bool
	dead    string // why NVML will never answer; "" while it may
	unified bool   // may fall back to the machine's memory
	meminfo func() ([]byte, error)
}

// read asks for the memory. A code that loses the GPU or the driver comes
// back, with the memory unknown; every other failure is told in the numbers.
func (r *memoryReader) read(h handle) (Memory, Code) {
	if r.dead != "" {
		return r.without(r.dead), codeSuccess
	}
	var second Code
	if !r.v1Only {
		numbers, code := h.memoryV2()
		if code == codeSuccess && numbers.total > 0 {
			return judgeMemory(numbers, SourceV2), codeSuccess
		}
		if code.losesGPU() || code.losesDriver() {
			return missingMemory(code.missing()), code
		}
		second = code
	}
	numbers, code := h.memoryV1()
	switch {
	case code == codeSuccess && numbers.total > 0:
		r.v1Only = true
		return judgeMemory(numbers, SourceV1), codeSuccess
	case code.losesGPU() || code.losesDriver():
		return missingMemory(code.missing()), code
	case code == codeSuccess: // a total of 0: what some unified devices say in place of NOT_SUPPORTED
		code = codeNotSupported
	}
	if code.neverAnswers() && (r.v1Only || second == codeSuccess || second.neverAnswers()) {
		r.dead = code.missing()
	}
	if code == codeNotSupported {
		return r.without(code.missing()), codeSuccess
	}
	return missingMemory(code.missing()), codeSuccess
}

// without is the memory of a device that NVML has no numbers for: the
// machine's where the two are one, and unknown everywhere else.
func (r *memoryReader) without(why string) Memory {
	if !r.unified {
		return missingMemory(why)
	}
	text, err := r.meminfo()
	if err != nil {
		return missingMemory("/proc/meminfo cannot be read: " + err.Error())
	}
	total, available, ok := parseMeminfo(text)
	if !ok {
		return missingMemory("/proc/meminfo has no MemTotal and MemAvailable")
	}
	return Memory{
		Total:    known(total, SourceMeminfo),
		Used:     known(total-available, SourceMeminfo),
		Free:     known(available, SourceMeminfo),
		Reserved: unknown("this GPU shares the system's memory"),
		Shared:   true,
	}
}

func missingMemory(why string) Memory {
	n := unknown(why)
	return Memory{Total: n, Used: n, Free: n, Reserved: n}
}

// judgeMemory refuses numbers that cannot be: a driver that reports more used
// than there is has been seen, and a wrong number is worse than none.
func judgeMemory(m memoryNumbers, source string) Memory {
	if m.used > m.total || m.free > m.total-m.used || m.reserved > m.total-m.used-m.free {
		return missingMemory(fmt.Sprintf("the driver reports garbage: %d used, %d free and %d reserved of %d bytes (%s)",
			m.used, m.free, m.reserved, m.total, source))
	}
	memory := Memory{Total: known(m.total, source), Used: known(m.used, source), Free: known(m.free, source)}
	if source == SourceV2 {
		memory.Reserved = known(m.reserved, source)
	} else {
		memory.Reserved = unknown("NVML v1 counts the driver's reserve as used: driver R510 or later tells them apart")
	}
	return memory
}

// parseMeminfo finds MemTotal and MemAvailable, in bytes. It is not ok unless
// both are there and fit together.
func parseMeminfo(text []byte) (total, available uint64, ok bool) {
	var haveTotal, haveAvailable bool
	for line := range strings.Lines(string(text)) {
		name, rest, found := strings.Cut(line, ":")
		if !found {
			continue
		}
		switch name {
		case "MemTotal":
			total, haveTotal = parseKilobytes(rest)
		case "MemAvailable":
			available, haveAvailable = parseKilobytes(rest)
		}
	}
	return total, available, haveTotal && haveAvailable && total > 0 && available <= total
}

func parseKilobytes(text string) (uint64, bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || unit != "kB" || n > 1<<53 {
		return 0, false
	}
	return n * 1024, true
}
