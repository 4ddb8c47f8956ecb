package arena_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"vramscope/arena"
)

func TestPoisonFillsEveryAllocation(t *testing.T) {
	buffer := bytes.Repeat([]byte{7}, 41)
	a := newArena(t, arena.Config{Memory: buffer, Poison: arena.PoisonByte(0xFF)})
	alloc(t, a, 1, 1)
	alloc(t, a, 5, 2)
	persist(t, a, 3, 4)
	alloc(t, a, 0, 1)
	want := bytes.Repeat([]byte{7}, 41)
	copy(want, "\xff\x07"+strings.Repeat("\xff", 10))
	copy(want[28:], strings.Repeat("\xff", 12))
	if !bytes.Equal(buffer, want) {
		t.Fatalf("\n% x, want\n% x", buffer, want)
	}
}

func TestPoisonReadsAsNaNAndMinusOne(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64, Poison: arena.PoisonByte(0xFF)})
	floats, err := arena.Slice[float32](a, 3)
	if err != nil || !math.IsNaN(float64(floats[2])) {
		t.Fatalf("%v, %v", floats, err)
	}
	integers, err := arena.SlicePersist[int64](a, 2)
	if err != nil || integers[0] != -1 || integers[1] != -1 {
		t.Fatalf("%v, %v", integers, err)
	}
}

func TestPoisonOfZeroIsNotOff(t *testing.T) {
	buffer := []byte{1, 2, 3}
	alloc(t, newArena(t, arena.Config{Memory: buffer, Poison: arena.PoisonByte(0)}), 2, 1)
	if !bytes.Equal(buffer, []byte{0, 0, 3}) {
		t.Fatalf("%v", buffer)
	}
	if value, on := arena.PoisonByte(9).Byte(); value != 9 || !on {
		t.Fatal("the poison forgot its byte")
	}
}

func TestDevicePoisonIsWrittenBeforeThePointersMove(t *testing.T) {
	var asked [][2]int64
	var failure error
	observer := newTree()
	a := newArena(t, arena.Config{Bytes: 64, Base: 0x1000, Poison: arena.PoisonByte(0xAB), Observer: observer,
		Fill: func(offset, bytes int64, value byte) error {
			asked = append(asked, [2]int64{offset, bytes})
			if value != 0xAB {
				t.Errorf("value %#x", value)
			}
			return failure
		}})
	alloc(t, a, 3, 1)
	persist(t, a, 2, 8)
	alloc(t, a, 0, 1)
	if len(asked) != 2 || asked[0] != [2]int64{0, 3} || asked[1] != [2]int64{48, 16} {
		t.Fatalf("%v", asked)
	}
	failure = errors.New("launch failure")
	if _, err := a.Alloc(1, 4); !errors.Is(err, failure) {
		t.Fatalf("error %v", err)
	}
	expect(t, a, 3, 48, 19)
	if last := observer.events[len(observer.events)-1]; last.Op != arena.OpFail || last.Forward != 3 {
		t.Fatalf("%+v", last)
	}
}

func TestPoisonFromEnvironment(t *testing.T) {
	const algan, twin = "ALGAN_ARENA_POISON", "VRAMSCOPE_ARENA_POISON"
	for _, c := range []struct {
		name        string
		environment map[string]string
		on          bool
		value       byte
		wrong       string // the variable that an error names
	}{
		{"nothing set", nil, false, 0, ""},
		{"algan's off", map[string]string{algan: "-1"}, false, 0, ""},
		{"algan's", map[string]string{algan: "255"}, true, 255, ""},
		{"zero is a byte", map[string]string{algan: "0"}, true, 0, ""},
		{"the twin", map[string]string{twin: " 17 "}, true, 17, ""},
		{"the twin wins", map[string]string{algan: "255", twin: "1"}, true, 1, ""},
		{"the twin wins when it is off", map[string]string{algan: "255", twin: "-1"}, false, 0, ""},
		{"an empty twin is none", map[string]string{algan: "3", twin: ""}, true, 3, ""},
		{"too large", map[string]string{algan: "256"}, false, 0, algan},
		{"too small", map[string]string{twin: "-2"}, false, 0, twin},
		{"no number", map[string]string{twin: "0xFF"}, false, 0, twin},
		{"a fraction", map[string]string{algan: "1.0"}, false, 0, algan},
		{"beyond any integer", map[string]string{algan: "99999999999999999999"}, false, 0, algan},
	} {
		t.Run(c.name, func(t *testing.T) {
			poison, err := arena.PoisonFromEnvironment(func(name string) (string, bool) {
				value, set := c.environment[name]
				return value, set
			})
			if value, on := poison.Byte(); on != c.on || value != c.value {
				t.Errorf("%d, %t; want %d, %t", value, on, c.value, c.on)
			}
			var wrong *arena.PoisonError
			if errors.As(err, &wrong) != (c.wrong != "") || (wrong != nil && wrong.Variable != c.wrong) {
				t.Errorf("error %v, want one about %q", err, c.wrong)
			}
		})
	}
}
