package arena_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"vramscope/arena"
)

func TestConfigurationsThatCannotBeMeant(t *testing.T) {
	for _, c := range []struct {
		field  string
		config arena.Config
	}{
		{"Portion", arena.Config{Available: 100, Portion: math.NaN()}},
		{"Portion", arena.Config{Available: 100, Portion: math.Inf(1)}},
		{"Portion", arena.Config{Available: 0, Portion: math.Inf(1)}},
		{"Portion", arena.Config{Available: math.MaxInt64, Portion: 2}},
		{"Memory", arena.Config{Bytes: 9, Memory: make([]byte, 8)}},
		{"Base", arena.Config{Bytes: 0x2000, Base: math.MaxUint64 - 0x1000}},
		{"Unmanaged", arena.Config{Unmanaged: true, Memory: make([]byte, 8)}},
		{"Unmanaged", arena.Config{Unmanaged: true, Base: 0x1000}},
		{"Poison", arena.Config{Bytes: 8, Base: 0x1000, Poison: arena.PoisonByte(0)}},
	} {
		_, err := arena.New(c.config)
		var wrong *arena.ConfigError
		if !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), "; ") {
			t.Errorf("%+v: error %v, want one about %s", c.config, err, c.field)
		}
	}
}

func TestHostThatRefusesIsAnError(t *testing.T) {
	for _, bytes := range []int64{1 << 62, math.MaxInt64} {
		_, err := arena.New(arena.Config{Bytes: bytes})
		var refused *arena.HostMemoryError
		if !errors.As(err, &refused) || refused.Asked != bytes || errors.Unwrap(err) == nil {
			t.Errorf("%d bytes: error %v", bytes, err)
		}
		unmanaged := newArena(t, arena.Config{Unmanaged: true})
		if _, err := unmanaged.Alloc(bytes, 1); !errors.As(err, &refused) {
			t.Errorf("%d bytes, unmanaged: error %v", bytes, err)
		}
	}
}

func TestBufferOfTheCallerIsTheArena(t *testing.T) {
	buffer := make([]byte, 16)
	a := newArena(t, arena.Config{Bytes: 12, Memory: buffer})
	block := alloc(t, a, 4, 1)
	copy(block.Memory(), "abcd")
	copy(persist(t, a, 2, 1).Memory(), "yz")
	if string(buffer[:4]) != "abcd" || string(buffer[10:12]) != "yz" {
		t.Fatalf("%q", buffer)
	}
	if cap(block.Memory()) != 4 {
		t.Fatal("appending to a block would run into the next one")
	}
	if a.Address(block) != a.Base() || a.State().Base != a.Base() {
		t.Fatal("the block does not start at the base")
	}
}

func TestDeviceArenaHasAddressesAndNoBytes(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 1 << 36, Base: 0x7f00_0000_0000})
	alloc(t, a, 3, 1)
	block := alloc(t, a, 1<<30, 4)
	if block.Memory() != nil || a.Address(block) != 0x7f00_0000_0004 {
		t.Fatalf("%v at %#x", block.Memory(), a.Address(block))
	}
	var view *arena.ViewError
	if _, err := arena.Slice[float32](a, 4); !errors.As(err, &view) || view.Type != "float32" {
		t.Fatalf("error %v", err)
	}
	expect(t, a, 4<<30+4, 1<<36, 4<<30+4)
	if !a.State().HasBuffer {
		t.Fatal("the device has the buffer")
	}
}

func TestOwnBufferStartsAtACacheLine(t *testing.T) {
	for _, bytes := range []int64{0, 1, 7, 100, 1 << 16, 20 << 20} {
		a := newArena(t, arena.Config{Bytes: bytes})
		if a.Base()%64 != 0 {
			t.Errorf("%d bytes start at %#x", bytes, a.Base())
		}
		if block := alloc(t, a, bytes, 1); int64(len(block.Memory())) != bytes {
			t.Errorf("%d bytes of %d", len(block.Memory()), bytes)
		}
	}
}
