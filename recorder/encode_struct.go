package recorder

import (
	"reflect"
	"slices"
	"strconv"

	"vramscope/arena"
)

// appendGeneric writes a record by the plan of its type.
func appendGeneric(buf []byte, record Record) []byte {
	value := reflect.ValueOf(record).Elem()
	buf = append(buf, `{"t":"`...)
	buf = append(buf, record.Type()...)
	buf = append(buf, '"')
	buf = appendFields(buf, value, true)
	return append(buf, '}')
}

// appendFields writes the keys of a struct. more says that keys stand before
// them.
func appendFields(buf []byte, value reflect.Value, more bool) []byte {
	plan := planOf(value.Type())
	for i := range plan.fields {
		field := &plan.fields[i]
		content := value.FieldByIndex(field.index)
		if plan.lead >= 0 && i != plan.lead && zeroColumn(content) || !field.always && emptyValue(content) {
			continue
		}
		if more {
			buf = append(buf, ',')
		}
		more = true
		buf = append(buf, field.key...)
		buf = appendValue(buf, content)
	}
	return buf
}

// emptyValue says whether a key is left out.
func emptyValue(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Slice, reflect.Map:
		return value.Len() == 0
	}
	return value.IsZero()
}

// zeroColumn says whether a column holds nothing but zeros.
func zeroColumn(value reflect.Value) bool {
	switch column := value.Addr().Interface().(type) {
	case *[]int64:
		return allZero(*column)
	case *[]int32:
		return allZero(*column)
	case *[]uint32:
		return allZero(*column)
	case *[]uint8:
		return allZero(*column)
	}
	return false
}

func appendValue(buf []byte, value reflect.Value) []byte {
	switch value.Kind() {
	case reflect.Bool:
		return strconv.AppendBool(buf, value.Bool())
	case reflect.String:
		return appendString(buf, value.String())
	case reflect.Float64:
		return appendFloat(buf, value.Float())
	case reflect.Pointer:
		if value.IsNil() {
			return append(buf, "null"...)
		}
		return appendValue(buf, value.Elem())
	case reflect.Slice:
		return appendSlice(buf, value)
	case reflect.Map:
		return appendStringMap(buf, value.Interface().(map[string]string))
	case reflect.Struct:
		if value.Type() == countersType {
			return appendCounters(buf, value.Addr().Interface().(*Counters))
		}
		buf = append(buf, '{')
		buf = appendFields(buf, value, false)
		return append(buf, '}')
	case reflect.Uint, reflect.Uint8, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(buf, value.Uint(), 10)
	default:
		return strconv.AppendInt(buf, value.Int(), 10)
	}
}

func appendSlice(buf []byte, value reflect.Value) []byte {
	switch values := value.Addr().Interface().(type) {
	case *[]arena.Param:
		return appendParams(buf, *values)
	case *[]CounterSet:
		return appendCounterSets(buf, *values)
	case *[]int64:
		return appendNumbers(buf, *values)
	case *[]int32:
		return appendNumbers(buf, *values)
	case *[]uint32:
		return appendNumbers(buf, *values)
	case *[]uint8:
		return appendNumbers(buf, *values)
	}
	buf = append(buf, '[')
	for i := range value.Len() {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendValue(buf, value.Index(i))
	}
	return append(buf, ']')
}

func appendNumbers[T int64 | int32 | uint32 | uint8](buf []byte, numbers []T) []byte {
	buf = slices.Grow(buf, 2+2*len(numbers))
	buf = append(buf, '[')
	for i, number := range numbers {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = appendInt(buf, int64(number))
	}
	return append(buf, ']')
}
