package local

import (
	"vramscope/pool"
)

// Touch fills the first half of a block on its stream and copies that half
// over the other one: each byte is written. The value follows from the address,
// so that blocks that overlap show.
func (g *GPU) Touch(address pool.Address, bytes int64, stream pool.Stream) error {
	if bytes <= 0 {
		return nil
	}
	second := bytes / 2
	first := bytes - second
	if err := g.Card.Fill(address, first, pattern(address), stream); err != nil || second == 0 {
		return err
	}
	return g.Card.Copy(address+pool.Address(first), address, second, stream)
}

// checkedBytes are read at the beginning and at the end of a block.
const checkedBytes = 16

// Check waits for the stream and reads a block's beginning and end back.
func (g *GPU) Check(address pool.Address, bytes int64, stream pool.Stream) error {
	if bytes <= 0 {
		return nil
	}
	if err := g.Card.SynchronizeStream(stream); err != nil {
		return err
	}
	length := min(bytes, checkedBytes)
	for _, offset := range []int64{0, bytes - length} {
		var read [checkedBytes]byte
		if err := g.Card.Read(address+pool.Address(offset), read[:length]); err != nil {
			return err
		}
		for i, got := range read[:length] {
			if want := pattern(address); got != want {
				return &MemoryError{Address: address, Offset: offset + int64(i), Want: want, Got: got}
			}
		}
	}
	return nil
}

// pattern is the byte that a block at an address is filled with.
func pattern(address pool.Address) byte {
	return byte(uint64(address) * 0x9e3779b97f4a7c15 >> 56)
}
