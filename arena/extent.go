package arena

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
)

// Total is the position of an ExtentError that is about the whole size.
const Total = -1

// largestExactFloat is 2^53, up to which every whole number is a float64.
const largestExactFloat = 1 << 53

// ExtentReason says what is wrong with an extent.
type ExtentReason uint8

// What can be wrong with an extent.
const (
	ExtentNegative   ExtentReason = iota + 1 // below zero
	ExtentFractional                         // not a whole number: a fraction, NaN or infinite
	ExtentTooLarge                           // does not fit 64 bits, or is a float beyond 2^53
	ExtentNoNumber                           // neither an integer nor a float
	ExtentItemSize                           // an item size below 1
)

// ExtentError is a number that is no extent, or extents whose size overflows.
type ExtentError struct {
	Reason   ExtentReason
	Position int    // of the extent, from 0; Total when it is about all of them
	Value    string // the number as it was given; for ExtentNoNumber its type
}

// Error is a sentence that says what to pass.
func (e *ExtentError) Error() string {
	subject := "the size"
	if e.Position != Total {
		subject = fmt.Sprintf("extent %d", e.Position)
	}
	switch e.Reason {
	case ExtentNegative:
		return fmt.Sprintf("%s is %s, below zero; pass a whole number from 0", subject, e.Value)
	case ExtentFractional:
		return fmt.Sprintf("%s is %s, not a whole number; round it before you pass it", subject, e.Value)
	case ExtentTooLarge:
		return fmt.Sprintf("%s, %s, is more than can be counted exactly; split the work", subject, e.Value)
	case ExtentNoNumber:
		return fmt.Sprintf("%s is a %s, not a number; pass a whole number from 0", subject, e.Value)
	default:
		return fmt.Sprintf("the item size is %s bytes; pass at least 1", e.Value)
	}
}

// Extents turns numbers of any type into extents. Floats must be whole, so
// that a computed 1.5 is an error and not a 1 (algan's get_tensor truncated
// such extents once). It returns an *ExtentError that says which one is wrong.
func Extents(values ...any) ([]int64, error) {
	extents := make([]int64, len(values))
	for i, value := range values {
		extent, err := extentOf(value)
		if err != nil {
			err.Position = i
			return nil, err
		}
		extents[i] = extent
	}
	return extents, nil
}

// ExtentFromFloat is the extent that a float names. It must be whole, not
// negative and at most 2^53, beyond which a float no longer tells one whole
// number from the next; else it returns an *ExtentError.
func ExtentFromFloat(value float64) (int64, error) {
	extent, err := extentOfFloat(value)
	if err != nil {
		return 0, err
	}
	return extent, nil
}

// Elements is the number of items of an array: the product of its extents,
// and 1 for none at all (a scalar). With a zero among them it is 0, however
// large the others are. It returns an *ExtentError where an extent is negative
// or the product does not fit 64 bits.
func Elements(extents ...int64) (int64, error) {
	return elements(extents)
}

// elements is Elements for every width of integer. It multiplies before it
// asks what could be wrong: sizes that are fine, which is nearly all, pay one
// pass.
func elements[I int | int64](extents []I) (int64, error) {
	product := uint64(1)
	for _, extent := range extents {
		high, low := bits.Mul64(product, uint64(extent))
		if extent < 0 || high != 0 || low > math.MaxInt64 {
			return unusualElements(extents)
		}
		product = low
	}
	return int64(product), nil
}

// unusualElements says which extent is wrong, unless one of them is zero and
// the others are merely large.
func unusualElements[I int | int64](extents []I) (int64, error) {
	empty := false
	for i, extent := range extents {
		if extent < 0 {
			return 0, &ExtentError{ExtentNegative, i, strconv.FormatInt(int64(extent), 10)}
		}
		empty = empty || extent == 0
	}
	if empty {
		return 0, nil
	}
	return 0, &ExtentError{ExtentTooLarge, Total, productText(extents)}
}

// productText writes extents as "3 x 4".
func productText[I int | int64](extents []I) string {
	var text []byte
	for i, extent := range extents {
		if i > 0 {
			text = append(text, " x "...)
		}
		text = strconv.AppendInt(text, int64(extent), 10)
	}
	return string(text)
}

// extentOf goes by kind, so that named number types count as well.
func extentOf(value any) (int64, *ExtentError) {
	v := reflect.ValueOf(value)
	switch {
	case v.IsValid() && v.CanInt():
		if v.Int() < 0 {
			return 0, &ExtentError{ExtentNegative, Total, strconv.FormatInt(v.Int(), 10)}
		}
		return v.Int(), nil
	case v.IsValid() && v.CanUint():
		if v.Uint() > math.MaxInt64 {
			return 0, &ExtentError{ExtentTooLarge, Total, strconv.FormatUint(v.Uint(), 10)}
		}
		return int64(v.Uint()), nil
	case v.IsValid() && v.CanFloat():
		return extentOfFloat(v.Float())
	default:
		return 0, &ExtentError{ExtentNoNumber, Total, fmt.Sprintf("%T", value)}
	}
}

func extentOfFloat(value float64) (int64, *ExtentError) {
	var reason ExtentReason
	switch {
	case math.IsInf(value, 0) || value != math.Trunc(value): // NaN differs from everything
		reason = ExtentFractional
	case value < 0:
		reason = ExtentNegative
	case value > largestExactFloat:
		reason = ExtentTooLarge
	default:
		return int64(value), nil
	}
	return 0, &ExtentError{reason, Total, strconv.FormatFloat(value, 'g', -1, 64)}
}

// sizeError says why numel items of itemSize bytes are no size.
func sizeError(numel, itemSize int64) error {
	switch {
	case itemSize <= 0:
		return &ExtentError{ExtentItemSize, Total, strconv.FormatInt(itemSize, 10)}
	case numel < 0:
		return &ExtentError{ExtentNegative, Total, strconv.FormatInt(numel, 10)}
	default:
		return &ExtentError{ExtentTooLarge, Total, fmt.Sprintf("%d items of %d bytes", numel, itemSize)}
	}
}
