package torchsnap

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// The values that the picklers below write, besides nil, bool, int64, uint64
// and float64. They are told apart by where they are, as Python's objects.
type (
	text       struct{ string }
	sequence   struct{ items []any }
	tuple      struct{ items []any }
	dictionary struct{ pairs []any } // key, value, key, value
)

// dictOf makes a dictionary with keys that are told apart by what they say,
// as interned strings.
func (k keys) dictOf(pairs ...any) *dictionary {
	d := &dictionary{}
	for i := 0; i < len(pairs); i += 2 {
		d.pairs = append(d.pairs, k.of(pairs[i].(string)), pairs[i+1])
	}
	return d
}

type keys map[string]*text

func (k keys) of(name string) *text {
	if k[name] == nil {
		k[name] = &text{name}
	}
	return k[name]
}

// pickler writes what Python's and TorchScript's picklers write.
type pickler struct {
	protocol    byte
	torchScript bool
	random      *rand.Rand // where a FRAME may stand, nil for nowhere
	out         []byte
	memo        map[any]uint32
	ends        map[any]int // where a dictionary's last byte ends
}

func pickled(v any, protocol byte, torchScript bool, random *rand.Rand) *pickler {
	p := &pickler{protocol: protocol, torchScript: torchScript, random: random, memo: map[any]uint32{}, ends: map[any]int{}}
	p.out = append(p.out, opProto, protocol)
	p.save(v)
	p.out = append(p.out, opStop)
	return p
}

func (p *pickler) op(bytes ...byte) { p.out = append(p.out, bytes...) }

func (p *pickler) save(v any) {
	if p.protocol >= 4 && p.random != nil && p.random.IntN(50) == 0 {
		p.op(opFrame, 1, 2, 3, 4, 5, 6, 7, 8) // its length means nothing
	}
	if index, known := p.memo[v]; known {
		if index < 256 {
			p.op(opBinGet, byte(index))
		} else {
			p.op(opLongBinGet)
			p.out = binary.LittleEndian.AppendUint32(p.out, index)
		}
		return
	}
	switch v := v.(type) {
	case nil:
		p.op(opNone)
	case bool:
		p.op(map[bool]byte{false: opNewFalse, true: opNewTrue}[v])
	case int64:
		p.integer(v)
	case uint64:
		p.op(opLong1, 9)
		p.out = append(binary.LittleEndian.AppendUint64(p.out, v), 0)
	case float64:
		p.op(opBinFloat)
		p.out = binary.BigEndian.AppendUint64(p.out, math.Float64bits(v))
	case *text:
		p.text(v)
	case *tuple:
		p.tuple(v)
	case *sequence:
		p.op(opEmptyList)
		p.memoise(v, true)
		p.batches(v.items, 1, opAppend, opAppends)
		p.memoise(v, false)
	case *dictionary:
		p.op(opEmptyDict)
		p.memoise(v, true)
		p.batches(v.pairs, 2, opSetItem, opSetItems)
		p.ends[v] = len(p.out)
		p.memoise(v, false)
	default:
		panic(v)
	}
}

// memoise writes a memo opcode: Python does before a container's items, for
// TorchScript after them.
func (p *pickler) memoise(v any, before bool) {
	if before == p.torchScript {
		return
	}
	index := uint32(len(p.memo))
	p.memo[v] = index
	switch {
	case p.protocol >= 4:
		p.op(opMemoize)
	case index < 256:
		p.op(opBinPut, byte(index))
	default:
		p.op(opLongBinPut)
		p.out = binary.LittleEndian.AppendUint32(p.out, index)
	}
}

// batches writes items as Python does, a thousand at a time, or all at once
// as TorchScript does.
func (p *pickler) batches(items []any, each int, one, many byte) {
	if len(items) == each && !p.torchScript {
		for _, item := range items {
			p.save(item)
		}
		p.op(one)
		return
	}
	for len(items) > 0 {
		n := len(items)
		if !p.torchScript {
			n = min(n, 1000*each)
		}
		p.op(opMark)
		for _, item := range items[:n] {
			p.save(item)
		}
		p.op(many)
		items = items[n:]
	}
}

func (p *pickler) tuple(v *tuple) {
	if len(v.items) > 3 || p.torchScript && len(v.items) == 3 {
		p.op(opMark)
	}
	for _, item := range v.items {
		p.save(item)
	}
	switch {
	case len(v.items) > 3 || p.torchScript && len(v.items) == 3:
		p.op(opTuple)
	default:
		p.op([]byte{opEmptyTuple, opTuple1, opTuple2, opTuple3}[len(v.items)])
	}
	p.memoise(v, p.torchScript == false)
}

func (p *pickler) text(v *text) {
	switch n := len(v.string); {
	case p.protocol >= 4 && n < 256:
		p.op(opShortBinUnicode, byte(n))
	case p.protocol >= 4 && n > 1<<20: // Python only does from 4 GiB on
		p.op(opBinUnicode8)
		p.out = binary.LittleEndian.AppendUint64(p.out, uint64(n))
	default:
		p.op(opBinUnicode)
		p.out = binary.LittleEndian.AppendUint32(p.out, uint32(n))
	}
	p.out = append(p.out, v.string...)
	p.memoise(v, p.torchScript == false)
}

func (p *pickler) integer(n int64) {
	switch {
	case n >= 0 && n < 1<<8:
		p.op(opBinInt1, byte(n))
	case n >= 0 && n < 1<<16:
		p.op(opBinInt2, byte(n), byte(n>>8))
	case n >= math.MinInt32 && n <= math.MaxInt32:
		p.op(opBinInt)
		p.out = binary.LittleEndian.AppendUint32(p.out, uint32(n))
	case p.torchScript:
		p.op(opLong1, 8)
		p.out = binary.LittleEndian.AppendUint64(p.out, uint64(n))
	default:
		length := 1
		for n>>(8*length-1) != 0 && n>>(8*length-1) != -1 {
			length++
		}
		p.op(opLong1, byte(length))
		for i := range length {
			p.op(byte(n >> (8 * i)))
		}
	}
}
