package algan

import (
	"math"
	"strings"

	"vramscope/arena"
	"vramscope/recorder"
)

// add puts a scope in, in the place of one of the same name and route.
func (b *builder) add(scope recorder.ScopeCost) {
	var name strings.Builder
	name.WriteString(scope.Name)
	for _, param := range scope.Route {
		name.WriteString("\x00" + param.Key + "\x00" + param.Value)
	}
	b.account.take(int64(name.Len()) + 64)
	at, again := b.placed[name.String()]
	if !again {
		b.placed[name.String()] = len(b.costs.Scopes)
		b.costs.Scopes = appended(b.account, b.costs.Scopes, scope)
		return
	}
	b.costs.Scopes[at] = scope
}

// eachRoute reads a table by scope and by route.
func (b *builder) eachRoute(v value, take func(name string, route []recorder.DumpSetting, item value) error) error {
	return b.eachPair(v, func(name string, item value) error {
		if item.kind() != kindDict {
			return item.malformed("a dictionary by route is expected, and here is " + kindNames[item.kind()])
		}
		for key, item := range item.pairs {
			route, err := b.route(key)
			if err == nil {
				err = take(name, route, item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// route reads a key: pairs of a parameter's name and its value.
func (b *builder) route(v value) ([]recorder.DumpSetting, error) {
	if !v.isSequence() {
		return nil, v.malformed("a route is a tuple of pairs, and here is " + kindNames[v.kind()])
	}
	route := withRoom[recorder.DumpSetting](b.account, v.length())
	for pair := range v.items {
		if !pair.isSequence() || pair.length() != 2 {
			return nil, pair.malformed("a route is a tuple of pairs, and this is no pair")
		}
		var texts [2]string
		i := 0
		for item := range pair.items {
			text, err := b.flat(item)
			if err != nil {
				return nil, err
			}
			texts[i] = text
			i++
		}
		route = append(route, recorder.DumpSetting{Key: texts[0], Value: texts[1]})
	}
	return route, nil
}

func (b *builder) traces(v value) error {
	return b.eachRoute(v, func(name string, route []recorder.DumpSetting, item value) error {
		trace, err := b.trace(item)
		b.add(recorder.ScopeCost{Name: name, Route: route, Trace: trace})
		return err
	})
}

// trace reads a stream of events: ("A", intercept, slope, item size, persist),
// ("(", clears the persistent side) and (")",).
func (b *builder) trace(v value) (recorder.CostTrace, error) {
	if !v.isSequence() {
		return nil, v.malformed("a trace is a tuple of events, and here is " + kindNames[v.kind()])
	}
	trace := recorder.CostTrace(withRoom[recorder.CostEvent](b.account, v.length()))
	for item := range v.items {
		event, err := costEvent(item)
		if err != nil {
			return nil, err
		}
		trace = append(trace, event)
	}
	return trace, nil
}

func costEvent(v value) (event recorder.CostEvent, err error) {
	var parts [5]value
	if !v.isSequence() || v.length() == 0 || v.length() > len(parts) {
		return event, v.malformed("an event is a tuple that begins with \"A\", \"(\" or \")\"")
	}
	count := 0
	for part := range v.items {
		parts[count] = part
		count++
	}
	if parts[0].kind() != kindText {
		return event, parts[0].malformed("an event begins with a string, and here is " + kindNames[parts[0].kind()])
	}
	switch tag := parts[0].text(); {
	case tag == "A" && count == 5:
		return allocation(parts)
	case tag == "(" && count == 2:
		var clears int64
		err = intInto(&clears, parts[1])
		return recorder.CostEvent{Op: arena.OpTempPush, Clear: clears != 0}, err
	case tag == ")" && count == 1:
		return recorder.CostEvent{Op: arena.OpTempPop}, nil
	case tag == "A", tag == "(", tag == ")":
		return event, v.malformed("an event " + quoted(tag) + " has another number of parts than a trace's")
	default:
		return event, v.malformed("an event has the tag " + quoted(tag) + ", which no trace knows")
	}
}

func allocation(parts [5]value) (event recorder.CostEvent, err error) {
	var itemSize, persist int64
	for i, into := range [...]*int64{&event.Intercept, &event.Slope, &itemSize, &persist} {
		if err := intInto(into, parts[i+1]); err != nil {
			return event, err
		}
	}
	if itemSize < 1 || itemSize > math.MaxInt32 {
		return event, parts[3].malformed("an item has less than 1 byte, or more than can be")
	}
	event.Op, event.ItemSize = arena.OpAlloc, int32(itemSize)
	if persist != 0 {
		event.Op = arena.OpPersist
	}
	return event, nil
}

func (b *builder) units(v value) error {
	return b.eachRoute(v, func(name string, route []recorder.DumpSetting, item value) error {
		unit, err := b.unit(item)
		b.add(recorder.ScopeCost{Name: name, Route: route, Units: unit})
		return err
	})
}

// unit reads the bytes for each unit of drivers.
func (b *builder) unit(v value) (*recorder.UnitCost, error) {
	b.account.take(64)
	unit := &recorder.UnitCost{}
	err := b.eachPair(v, func(key string, item value) error {
		switch key {
		case "fixed":
			return bytesInto(&unit.Fixed, item)
		case "align_slack":
			return bytesInto(&unit.AlignSlack, item)
		}
		driver := recorder.UnitDriver{Name: key}
		err := bytesInto(&driver.Bytes, item)
		unit.Drivers = appended(b.account, unit.Drivers, driver)
		return err
	})
	return unit, err
}

func bytesInto(into *int64, v value) error {
	if err := intInto(into, v); err != nil {
		return err
	}
	if *into < 0 {
		return v.malformed("a number of bytes is negative")
	}
	return nil
}

// densities reads the scopes whose drivers depend on what is rendered.
func (b *builder) densities(v value) error {
	return b.eachPair(v, func(name string, item value) error {
		b.account.take(128)
		density, structural := &recorder.DensityCost{}, value{index: -1}
		err := b.eachPair(item, func(key string, item value) error {
			switch key {
			case "density_of":
				return b.textInto(&density.Of, item)
			case "density_per":
				return b.names(&density.Per, item)
			case "density":
				return floatInto(&density.PerUnit, item)
			case "density_max":
				return floatInto(&density.Largest, item)
			case "density_samples":
				return intInto(&density.Samples, item)
			case "structural":
				structural = item
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case structural.index < 0:
			return item.malformed("a density has no structural bytes")
		}
		if structural.kind() != kindDict {
			return structural.malformed("a dictionary by route is expected, and here is " + kindNames[structural.kind()])
		}
		for key, item := range structural.pairs {
			route, err := b.route(key)
			if err != nil {
				return err
			}
			unit, err := b.unit(item)
			if err != nil {
				return err
			}
			b.add(recorder.ScopeCost{Name: name, Route: route, Units: unit, Density: density})
		}
		return nil
	})
}

func (b *builder) names(into *[]string, v value) error {
	if v.kind() == kindText {
		*into = appended(b.account, *into, b.intern(v.text()))
		return nil
	}
	if !v.isSequence() {
		return v.malformed("a list of names is expected, and here is " + kindNames[v.kind()])
	}
	for item := range v.items {
		text, err := b.flat(item)
		if err != nil {
			return err
		}
		*into = appended(b.account, *into, text)
	}
	return nil
}
