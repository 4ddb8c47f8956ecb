package recorder

import (
	"math"
	"reflect"
	"slices"

	"vramscope/arena"
)

// readStruct reads a record by the plan of its type, behind its brace.
func readStruct(s *scanner, record Record) Record {
	s.fields(reflect.ValueOf(record).Elem())
	return record
}

// fields reads the keys of a struct up to its closing brace.
func (s *scanner) fields(into reflect.Value) {
	plan := planOf(into.Type())
	for first := true; s.nextKey(&first); {
		at, known := plan.byKey[string(s.key)]
		switch {
		case !known:
			s.skip()
		case s.null():
		default:
			s.value(into.FieldByIndex(plan.fields[at].index))
		}
	}
	if plan.lead >= 0 && s.err == nil {
		s.pad(into, plan)
	}
}

// value reads a value in place of what stood in into before.
func (s *scanner) value(into reflect.Value) {
	switch into.Kind() {
	case reflect.Bool:
		into.SetBool(s.boolean())
	case reflect.String:
		into.SetString(s.string())
	case reflect.Float64:
		_, float, _ := s.number()
		into.SetFloat(float)
	case reflect.Int, reflect.Int64:
		into.SetInt(s.integer())
	case reflect.Int32:
		value := s.integer()
		if value < math.MinInt32 || value > math.MaxInt32 {
			s.fail("the number is too small or too large here")
			return
		}
		into.SetInt(value)
	case reflect.Uint32:
		into.SetUint(s.unsigned(math.MaxUint32))
	case reflect.Uint64:
		into.SetUint(s.unsigned(math.MaxUint64))
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		s.value(into.Elem())
	case reflect.Map:
		into.Set(reflect.ValueOf(s.stringMap()))
	case reflect.Slice:
		s.slice(into)
	case reflect.Struct:
		if counters, ok := into.Addr().Interface().(*Counters); ok {
			*counters = s.counters()
			return
		}
		if s.take('{') {
			into.SetZero()
			s.fields(into)
		}
	}
}

// slice reads an array in place of what stood in into before.
func (s *scanner) slice(into reflect.Value) {
	switch values := into.Addr().Interface().(type) {
	case *[]int64:
		*values = narrow[int64](s, s.numbers(math.MinInt64, math.MaxInt64), 8)
	case *[]int:
		*values = narrow[int](s, s.numbers(math.MinInt, math.MaxInt), 8)
	case *[]int32:
		*values = narrow[int32](s, s.numbers(math.MinInt32, math.MaxInt32), 4)
	case *[]uint32:
		*values = narrow[uint32](s, s.numbers(0, math.MaxUint32), 4)
	case *[]uint8:
		*values = narrow[uint8](s, s.numbers(0, math.MaxUint8), 1)
	case *[]string:
		*values = s.strings()
	case *[]arena.Param:
		*values = s.params(nil)
	case *[]CounterSet:
		*values = s.counterSets()
	default:
		s.structs(into)
	}
}

func (s *scanner) strings() []string {
	if !s.take('[') {
		return nil
	}
	var texts []string
	for first := true; s.nextElement(&first) && s.charge(2*16); {
		texts = append(doubled(texts), s.string())
	}
	return texts
}

// doubled is the list with room for one more element: a list that grows by
// doubling takes less memory on its way than append does.
func doubled[T any](list []T) []T {
	if len(list) == cap(list) {
		return slices.Grow(list, max(len(list), 4))
	}
	return list
}

// structs reads an array of objects.
func (s *scanner) structs(into reflect.Value) {
	if !s.take('[') {
		return
	}
	into.SetLen(0)
	// A slice that grows by doubling holds twice what is in it.
	size := 2 * int64(into.Type().Elem().Size())
	for first := true; s.nextElement(&first) && s.charge(size); {
		n := into.Len()
		if n == into.Cap() {
			into.Grow(max(n, 4))
		}
		into.SetLen(n + 1)
		element := into.Index(n)
		element.SetZero()
		s.value(element)
	}
}

// pad gives columns that were left out their zeros, and refuses columns of
// another length than the leading one.
func (s *scanner) pad(into reflect.Value, plan *structPlan) {
	n := into.FieldByIndex(plan.fields[plan.lead].index).Len()
	for i := range plan.fields {
		column := into.FieldByIndex(plan.fields[i].index)
		if column.Type() == paramSetsType {
			continue
		}
		switch column.Len() {
		case n:
		case 0:
			if !s.charge(int64(n) * int64(column.Type().Elem().Size())) {
				return
			}
			column.Set(reflect.MakeSlice(column.Type(), n, n))
		default:
			s.fail("the columns differ in length")
			return
		}
	}
}
