package arena_test

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"vramscope/arena"
)

type frames uint16

func TestExtentsOfAnyNumber(t *testing.T) {
	got, err := arena.Extents(1, int8(2), uint64(3), frames(4), 5.0, float32(6), int64(math.MaxInt64), math.Copysign(0, -1), float64(1<<53))
	want := []int64{1, 2, 3, 4, 5, 6, math.MaxInt64, 0, 1 << 53}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v, %v; want %v", got, err, want)
	}
	if got, err := arena.Extents(); err != nil || len(got) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
}

func TestWhatIsNoExtent(t *testing.T) {
	for _, c := range []struct {
		value  any
		reason arena.ExtentReason
		says   string
	}{
		{1.5, arena.ExtentFractional, "extent 1 is 1.5, not a whole number; round it"},
		{-0.5, arena.ExtentFractional, "-0.5"},
		{math.NaN(), arena.ExtentFractional, "NaN"},
		{math.Inf(1), arena.ExtentFractional, "+Inf"},
		{math.Inf(-1), arena.ExtentFractional, "-Inf"},
		{float32(0.25), arena.ExtentFractional, "0.25"},
		{-1, arena.ExtentNegative, "extent 1 is -1, below zero; pass a whole number from 0"},
		{-2.0, arena.ExtentNegative, "-2"},
		{int64(math.MinInt64), arena.ExtentNegative, "-9223372036854775808"},
		{uint64(math.MaxUint64), arena.ExtentTooLarge, "18446744073709551615"},
		{float64(1<<53 + 2), arena.ExtentTooLarge, "9.007199254740994e+15"},
		{1e300, arena.ExtentTooLarge, "1e+300"},
		{nil, arena.ExtentNoNumber, "<nil>"},
		{"3", arena.ExtentNoNumber, "string"},
		{true, arena.ExtentNoNumber, "bool"},
		{[]int{1}, arena.ExtentNoNumber, "[]int"},
		{complex(1, 0), arena.ExtentNoNumber, "complex128"},
	} {
		extents, err := arena.Extents(7, c.value)
		var wrong *arena.ExtentError
		if !errors.As(err, &wrong) || extents != nil || wrong.Reason != c.reason || wrong.Position != 1 || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, error %v; want reason %d and %q", c.value, extents, err, c.reason, c.says)
		}
	}
}

func TestElements(t *testing.T) {
	for _, c := range []struct {
		extents []int64
		want    int64
		reason  arena.ExtentReason
	}{
		{nil, 1, 0},
		{[]int64{5}, 5, 0},
		{[]int64{2, 3, 4}, 24, 0},
		{[]int64{0}, 0, 0},
		{[]int64{math.MaxInt64, math.MaxInt64, 0}, 0, 0},
		{[]int64{0, math.MaxInt64, math.MaxInt64}, 0, 0},
		{[]int64{math.MaxInt64, 1}, math.MaxInt64, 0},
		{[]int64{1 << 31, 1 << 31}, 1 << 62, 0},
		{[]int64{1 << 31, 1 << 32}, 0, arena.ExtentTooLarge},
		{[]int64{1 << 32, 1 << 32}, 0, arena.ExtentTooLarge},
		{[]int64{0, -1}, 0, arena.ExtentNegative},
		{[]int64{math.MinInt64, math.MinInt64}, 0, arena.ExtentNegative},
	} {
		got, err := arena.Elements(c.extents...)
		var wrong *arena.ExtentError
		if errors.As(err, &wrong) != (c.reason != 0) || (wrong != nil && wrong.Reason != c.reason) || got != c.want {
			t.Errorf("%v: %d, %v; want %d", c.extents, got, err, c.want)
		}
	}
}

func TestSizesThatAreNone(t *testing.T) {
	a := newArena(t, arena.Config{Bytes: 64})
	for _, c := range []struct {
		numel, itemSize int64
		reason          arena.ExtentReason
		says            string
	}{
		{-1, 4, arena.ExtentNegative, "the size is -1"},
		{math.MinInt64, 1, arena.ExtentNegative, "below zero"},
		{1, 0, arena.ExtentItemSize, "the item size is 0 bytes; pass at least 1"},
		{0, -8, arena.ExtentItemSize, "-8"},
		{-1, -1, arena.ExtentItemSize, "-1"},
		{1 << 62, 2, arena.ExtentTooLarge, "4611686018427387904 items of 2 bytes"},
		{math.MaxInt64, math.MaxInt64, arena.ExtentTooLarge, "split the work"},
	} {
		for _, allocate := range []func(int64, int64) (arena.Block, error){a.Alloc, a.AllocPersist} {
			_, err := allocate(c.numel, c.itemSize)
			var wrong *arena.ExtentError
			if !errors.As(err, &wrong) || wrong.Reason != c.reason || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d items of %d: error %v, want %q", c.numel, c.itemSize, err, c.says)
			}
		}
	}
	// Sizes that are some, and do not fit: nothing overflows on the way.
	alloc(t, a, 1, 1)
	persist(t, a, 1, 1)
	for _, size := range [][2]int64{{math.MaxInt64, 1}, {1, math.MaxInt64}, {0, math.MaxInt64}, {1, 1 << 62}, {3, 1<<61 - 1}} {
		for _, allocate := range []func(int64, int64) (arena.Block, error){a.Alloc, a.AllocPersist} {
			var insufficient *arena.InsufficientMemoryError
			if _, err := allocate(size[0], size[1]); !errors.As(err, &insufficient) {
				t.Errorf("%d items of %d: error %v", size[0], size[1], err)
			}
		}
	}
	expect(t, a, 1, 63, 2)
}

// FuzzExtents holds extents and sizes against integers without a limit.
func FuzzExtents(f *testing.F) {
	for _, seed := range [][4]int64{{3, 4, 5, 8}, {-1, 2, 3, 4}, {1 << 31, 1 << 31, 1, 2}, {0, math.MaxInt64, 9, 1},
		{1, 1, 1, 0}, {7, 3, 1, math.MaxInt64}, {math.MinInt64, 0, 0, -3}} {
		f.Add(seed[0], seed[1], seed[2], seed[3], float64(seed[0]))
	}
	f.Add(int64(1), int64(1), int64(1), int64(1), 1.5)
	f.Add(int64(1), int64(1), int64(1), int64(1), math.NaN())
	f.Fuzz(func(t *testing.T, x, y, z, itemSize int64, float float64) {
		product := big.NewInt(1)
		negative := false
		for _, extent := range []int64{x, y, z} {
			product.Mul(product, big.NewInt(extent))
			negative = negative || extent < 0
		}
		numel, err := arena.Elements(x, y, z)
		if (err == nil) != (!negative && product.IsInt64()) || (err == nil && numel != product.Int64()) {
			t.Fatalf("%d x %d x %d: %d, %v; want %v", x, y, z, numel, err, product)
		}

		extent, err := arena.ExtentFromFloat(float)
		whole := float >= 0 && float <= 1<<53 && float == math.Floor(float)
		if (err == nil) != whole || (whole && float64(extent) != float) {
			t.Fatalf("%v: %d, %v", float, extent, err)
		}

		const length = 1 << 20
		a := newArena(t, arena.Config{Bytes: length, Base: 0x1000})
		if _, err := a.Alloc(1, 1); err != nil {
			t.Fatal(err)
		}
		size := new(big.Int).Mul(product, big.NewInt(itemSize))
		for _, persist := range []bool{false, true} {
			before := a.State()
			block, err := a.AllocTyped(arena.DType{Size: itemSize}, persist, x, y, z)
			if err != nil {
				expect(t, a, before.Forward, before.Reverse, before.HighWater)
				continue
			}
			if negative || itemSize < 1 || !size.IsInt64() || block.Bytes() != size.Int64() || block.Offset()%itemSize != 0 ||
				block.Offset() < before.Forward || block.Offset()+block.Bytes() > before.Reverse {
				t.Fatalf("%d x %d x %d of %d: %+v between %d and %d", x, y, z, itemSize, block, before.Forward, before.Reverse)
			}
		}
	})
}
