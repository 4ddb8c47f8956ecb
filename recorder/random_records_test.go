package recorder

import (
	"reflect"
	"slices"

	"pgregory.net/rapid"

	"vramscope/arena"
	"vramscope/pool"
)

// recordTypes is one record of every type that is read and written by plan or
// by hand.
func recordTypes() []Record {
	return []Record{
		&Hello{}, &Strings{}, &State{}, &Sample{}, &Frame{}, &Peak{}, &OOM{}, &Command{}, &Ack{}, &Note{}, &Lost{}, &Bye{}, &Want{},
	}
}

// randomRecord is a record of any type with any content.
func randomRecord(t *rapid.T) Record {
	kinds := recordTypes()
	n := rapid.IntRange(0, len(kinds)+1).Draw(t, "type")
	switch n {
	case len(kinds):
		return randomArenaEvents(t)
	case len(kinds) + 1:
		return randomPoolEvents(t)
	}
	fillRandom(t, reflect.ValueOf(kinds[n]).Elem())
	if hello, ok := kinds[n].(*Hello); ok {
		hello.Proto, hello.Min = rapid.IntRange(1, 9).Draw(t, "proto"), 1
	}
	return kinds[n]
}

var (
	randomText  = rapid.OneOf(rapid.Just(""), rapid.StringN(0, 12, -1), rapid.SampledFrom([]string{"render", "\x00\x1b[31m", `"\`, "ß…\U0001F600", "\u2028"}))
	randomInt   = rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-9, 99), rapid.Int64Range(0, 1<<40), rapid.Int64())
	randomParam = rapid.Custom(func(t *rapid.T) arena.Param {
		name := randomText.Draw(t, "name")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return arena.Int(name, randomInt.Draw(t, "int"))
		case 1:
			return arena.Float(name, rapid.OneOf(rapid.Float64(), rapid.Float64Range(-3, 3), rapid.Just(2.0)).Draw(t, "float"))
		case 2:
			return arena.Text(name, randomText.Draw(t, "text"))
		default:
			return arena.Bool(name, rapid.Bool().Draw(t, "bool"))
		}
	})
)

// fillRandom fills a record, or a part of one, as a writer could.
func fillRandom(t *rapid.T, value reflect.Value) {
	switch into := value.Addr().Interface().(type) {
	case *Counters:
		for counter := range Counter(NumCounters) {
			if rapid.IntRange(0, 7).Draw(t, "known") == 0 {
				into.Set(counter, randomInt.Draw(t, "counter"))
			}
		}
		return
	case *[]arena.Param:
		if params := rapid.SliceOfN(randomParam, 0, 3).Draw(t, "params"); len(params) > 0 {
			*into = params
		}
		return
	}
	switch value.Kind() {
	case reflect.Bool:
		value.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.String:
		value.SetString(randomText.Draw(t, "string"))
	case reflect.Float64:
		value.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.Int, reflect.Int64:
		value.SetInt(randomInt.Draw(t, "int"))
	case reflect.Int32:
		value.SetInt(int64(rapid.Int32().Draw(t, "int32")))
	case reflect.Uint8:
		value.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Uint32:
		value.SetUint(uint64(rapid.Uint32().Draw(t, "uint32")))
	case reflect.Uint64:
		value.SetUint(rapid.Uint64().Draw(t, "uint64"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "there") {
			value.Set(reflect.New(value.Type().Elem()))
			fillRandom(t, value.Elem())
		}
	case reflect.Map:
		if n := rapid.IntRange(0, 3).Draw(t, "entries"); n > 0 {
			values := map[string]string{}
			for range n {
				values[randomText.Draw(t, "key")] = randomText.Draw(t, "value")
			}
			value.Set(reflect.ValueOf(values))
		}
	case reflect.Slice:
		fillRandomSlice(t, value, rapid.IntRange(0, 3).Draw(t, "length"))
	case reflect.Struct:
		fillRandomStruct(t, value)
	}
}

func fillRandomStruct(t *rapid.T, value reflect.Value) {
	plan := planOf(value.Type())
	rows := rapid.IntRange(0, 4).Draw(t, "rows")
	for _, field := range plan.fields {
		content := value.FieldByIndex(field.index)
		if plan.lead >= 0 && content.Type() != paramSetsType {
			fillRandomSlice(t, content, rows)
			continue
		}
		fillRandom(t, content)
	}
}

func fillRandomSlice(t *rapid.T, value reflect.Value, n int) {
	if n == 0 {
		return
	}
	value.Set(reflect.MakeSlice(value.Type(), n, n))
	if rapid.IntRange(0, 4).Draw(t, "zero") == 0 {
		return
	}
	for i := range n {
		fillRandom(t, value.Index(i))
	}
}

func randomArenaEvents(t *rapid.T) *ArenaEvents {
	batch := &ArenaEvents{Head: Head{Src: randomText.Draw(t, "src")}, Arena: randomInt.Draw(t, "arena")}
	for range rapid.IntRange(0, 20).Draw(t, "events") {
		event := ArenaEvent{
			Ns: randomInt.Draw(t, "ns"), Frame: randomInt.Draw(t, "frame"), Op: arena.Op(rapid.Byte().Draw(t, "op")),
			Flags: rapid.Byte().Draw(t, "flags"), Bytes: randomInt.Draw(t, "bytes"), ItemSize: randomInt.Draw(t, "item"),
			Forward: randomInt.Draw(t, "forward"), Reverse: randomInt.Draw(t, "reverse"),
			Scope: rapid.SampledFrom([]uint64{0, 1, 1 << 63}).Draw(t, "scope"),
			Text:  rapid.SampledFrom([]uint32{0, 0, 7, FoldedName}).Draw(t, "text"), DType: rapid.Uint32Range(0, 3).Draw(t, "dtype"),
		}
		event.Params = rapid.SliceOfN(randomParam, 0, 2).Draw(t, "params")
		batch.Append(&event)
	}
	if len(batch.Op) == 0 {
		// A decoded batch has columns, however short.
		batch.Frame = -1
		batch.Ns, batch.Op, batch.Flags, batch.Bytes = []int64{}, []arena.Op{}, []uint8{}, []int64{}
		batch.ItemSize, batch.Forward, batch.Reverse = []int64{}, []int64{}, []int64{}
		batch.Scope, batch.Text, batch.DType = []uint64{}, []uint32{}, []uint32{}
	}
	if rapid.IntRange(0, 3).Draw(t, "zero column") == 0 {
		clear(batch.Bytes)
		clear(batch.Text)
	}
	return batch
}

func randomPoolEvents(t *rapid.T) *PoolEvents {
	batch := &PoolEvents{Head: Head{Src: randomText.Draw(t, "src")}, Pool: randomInt.Draw(t, "pool"), Frame: -1}
	for range rapid.IntRange(1, 20).Draw(t, "events") {
		batch.Append(PoolEvent{
			Ns: randomInt.Draw(t, "ns"), Frame: randomInt.Draw(t, "frame"), Generation: rapid.IntRange(0, 9).Draw(t, "generation"),
			Op: pool.Op(rapid.Byte().Draw(t, "op")), Address: rapid.Uint64().Draw(t, "address"), Bytes: randomInt.Draw(t, "bytes"),
			Requested: randomInt.Draw(t, "requested"), Stream: rapid.Uint32().Draw(t, "stream"),
		})
	}
	return batch
}

// keysOf is every key that a type's records can have, inner ones too.
func keysOf(t reflect.Type) []string {
	var keys []string
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == countersType || t == reflect.TypeFor[arena.Param]() {
		return nil
	}
	plan := planOf(t)
	for key, at := range plan.byKey {
		keys = append(keys, key)
		keys = append(keys, keysOf(t.FieldByIndex(plan.fields[at].index).Type)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func reflectElem(record any) reflect.Value { return reflect.ValueOf(record).Elem() }
