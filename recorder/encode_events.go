package recorder

import (
	"math"
	"strconv"

	"vramscope/arena"
	"vramscope/pool"
)

// MaxBatch is the most events of a batch. With MaxBatchParams bytes of
// parameters at most, in names of MaxParamName and texts of MaxParamText bytes,
// a batch of any content fits on a line.
const (
	MaxBatch       = 2048
	MaxBatchParams = 128 << 10
	MaxParamName   = 128
	MaxParamText   = 512
)

// appendArenaEvents writes a batch in columns.
func appendArenaEvents(buf []byte, b *ArenaEvents) ([]byte, error) {
	if !b.fits() {
		return buf, &ColumnsError{Kind: b.Type()}
	}
	buf = appendHead(buf, "ev", &b.Head)
	buf = append(buf, `,"arena":`...)
	buf = strconv.AppendInt(buf, b.Arena, 10)
	buf = appendFrame(buf, b.Frame)
	buf = appendTimes(buf, b.Head.Ns, b.Ns)
	buf = appendUintColumn(buf, `,"op":[`, b.Op, true)
	buf = appendUintColumn(buf, `,"fl":[`, b.Flags, false)
	buf = appendIntColumn(buf, `,"n":[`, b.Bytes)
	buf = appendIntColumn(buf, `,"item":[`, b.ItemSize)
	buf = appendIntColumn(buf, `,"f":[`, b.Forward)
	buf = appendIntColumn(buf, `,"r":[`, b.Reverse)
	buf = appendUintColumn(buf, `,"sc":[`, b.Scope, false)
	buf = appendUintColumn(buf, `,"x":[`, b.Text, false)
	buf = appendUintColumn(buf, `,"dt":[`, b.DType, false)
	if len(b.Params) > 0 {
		buf = append(buf, `,"pr":`...)
		for i := range b.Params {
			buf = append(buf, "[,"[min(i, 1)], '[')
			buf = strconv.AppendInt(buf, int64(b.Params[i].Index), 10)
			buf = append(buf, ',')
			buf = appendParams(buf, b.Params[i].Params)
			buf = append(buf, ']')
		}
		buf = append(buf, ']')
	}
	return append(buf, '}'), nil
}

// fits says whether the columns have one length and the parameters stand in
// order at events that are there.
func (b *ArenaEvents) fits() bool {
	n := len(b.Op)
	last := int32(-1)
	for i := range b.Params {
		if b.Params[i].Index <= last || int(b.Params[i].Index) >= n {
			return false
		}
		last = b.Params[i].Index
	}
	return len(b.Ns) == n && len(b.Flags) == n && len(b.Bytes) == n && len(b.ItemSize) == n && len(b.Forward) == n &&
		len(b.Reverse) == n && len(b.Scope) == n && len(b.Text) == n && len(b.DType) == n
}

// appendPoolEvents writes a batch in columns.
func appendPoolEvents(buf []byte, b *PoolEvents) ([]byte, error) {
	n := len(b.Op)
	if len(b.Ns) != n || len(b.Address) != n || len(b.Bytes) != n || len(b.Requested) != n || len(b.Stream) != n {
		return buf, &ColumnsError{Kind: b.Type()}
	}
	buf = appendHead(buf, "ev", &b.Head)
	buf = append(buf, `,"pool":`...)
	buf = strconv.AppendInt(buf, b.Pool, 10)
	buf = appendFrame(buf, b.Frame)
	buf = appendOptionalInt(buf, `,"gen":`, int64(b.Generation))
	buf = appendTimes(buf, b.Head.Ns, b.Ns)
	buf = appendUintColumn(buf, `,"op":[`, b.Op, true)
	buf = appendAddresses(buf, b.Address)
	buf = appendIntColumn(buf, `,"n":[`, b.Bytes)
	buf = appendIntColumn(buf, `,"q":[`, b.Requested)
	buf = appendUintColumn(buf, `,"st":[`, b.Stream, false)
	return append(buf, '}'), nil
}

func appendFrame(buf []byte, frame int64) []byte {
	if frame == -1 {
		return buf
	}
	return strconv.AppendInt(append(buf, `,"frame":`...), frame, 10)
}

// appendTimes writes times as differences, the first one from base.
func appendTimes(buf []byte, base int64, times []int64) []byte {
	same := true
	for _, ns := range times {
		same = same && ns == base
	}
	if same {
		return buf
	}
	buf = append(buf, `,"dns":[`...)
	for i, ns := range times {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendInt(buf, ns-base)
		base = ns
	}
	return append(buf, ']')
}

func appendIntColumn(buf []byte, key string, column []int64) []byte {
	if allZero(column) {
		return buf
	}
	buf = append(buf, key...)
	for i, value := range column {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendInt(buf, value)
	}
	return append(buf, ']')
}

func appendUintColumn[T uint8 | uint32 | uint64 | arena.Op | pool.Op](buf []byte, key string, column []T, always bool) []byte {
	if !always && allZero(column) {
		return buf
	}
	buf = append(buf, key...)
	for i, value := range column {
		if i > 0 {
			buf = append(buf, ',')
		}
		if value < 10 {
			buf = append(buf, '0'+byte(value))
			continue
		}
		buf = strconv.AppendUint(buf, uint64(value), 10)
	}
	return append(buf, ']')
}

func appendAddresses(buf []byte, column []uint64) []byte {
	if allZero(column) {
		return buf
	}
	buf = append(buf, `,"a":`...)
	separator := byte('[')
	for _, address := range column {
		buf = append(buf, separator)
		buf = appendAddress(buf, address)
		separator = ','
	}
	return append(buf, ']')
}

func appendAddress(buf []byte, address uint64) []byte {
	buf = append(buf, `"0x`...)
	buf = strconv.AppendUint(buf, address, 16)
	return append(buf, '"')
}

// FormatAddress is an address as records write it: "0x7f2b5c000000".
func FormatAddress(address uint64) string { return "0x" + strconv.FormatUint(address, 16) }

// appendInt is strconv.AppendInt with a short way for the small numbers that
// most columns hold.
func appendInt(buf []byte, value int64) []byte {
	switch {
	case 0 <= value && value < 10:
		return append(buf, '0'+byte(value))
	case value == math.MinInt64:
		return strconv.AppendInt(buf, value, 10)
	case value < 0:
		return strconv.AppendUint(append(buf, '-'), uint64(-value), 10)
	}
	return strconv.AppendUint(buf, uint64(value), 10)
}

func allZero[T int32 | int64 | uint8 | uint32 | uint64 | arena.Op | pool.Op](column []T) bool {
	for _, value := range column {
		if value != 0 {
			return false
		}
	}
	return true
}

// paramsWireBound is more than what parameters take on a line.
func paramsWireBound(params []arena.Param) int {
	bound := len(`[2147483647,{}],`)
	for i := range params {
		bound += maxEscape*(len(params[i].Name)+len(params[i].Text)) + len(`"":"",`) + 24
	}
	return bound
}
