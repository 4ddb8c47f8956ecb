package recorder

import (
	"reflect"
	"strings"
	"sync"

	"vramscope/arena"
)

// structPlan says how a record, or an object in one, lies in its Go type: the
// json tags of record.go are the only list of keys, for writing and reading.
type structPlan struct {
	fields []plannedField
	byKey  map[string]int
	// lead is the field whose length every column has, in types whose columns
	// are left out when they are zero; -1 in others.
	lead int
}

// plannedField is one key.
type plannedField struct {
	key    string // `"name":`
	index  []int
	always bool // written when it is zero, too
}

// columnTypes are the objects of columns, with the key of their leading column.
var columnTypes = map[reflect.Type]string{
	reflect.TypeFor[TreeColumns]():    "up",
	reflect.TypeFor[SegmentColumns](): "a",
	reflect.TypeFor[BlockColumns]():   "a",
}

var (
	countersType  = reflect.TypeFor[Counters]()
	paramsType    = reflect.TypeFor[[]arena.Param]()
	paramSetsType = reflect.TypeFor[[]ParamSet]()

	plans sync.Map // reflect.Type -> *structPlan
)

// planOf is the plan of a struct type.
func planOf(t reflect.Type) *structPlan {
	if plan, known := plans.Load(t); known {
		return plan.(*structPlan)
	}
	plan := &structPlan{byKey: make(map[string]int), lead: -1}
	lead := columnTypes[t]
	for _, field := range reflect.VisibleFields(t) {
		tag, tagged := field.Tag.Lookup("json")
		if !tagged || field.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == lead {
			plan.lead = len(plan.fields)
		}
		plan.byKey[name] = len(plan.fields)
		plan.fields = append(plan.fields, plannedField{
			key: `"` + name + `":`, index: field.Index, always: !strings.Contains(options, "omit"),
		})
	}
	known, _ := plans.LoadOrStore(t, plan)
	return known.(*structPlan)
}
