package algan

import (
	"strconv"

	"vramscope/recorder"
)

// module makes the costs of what a module assigns.
func module(assigned map[string]value, order []string, account *account) (*recorder.Costs, error) {
	b := &builder{account: account, costs: &recorder.Costs{Format: "memory tables by algan"}, interned: map[string]string{}, placed: map[string]int{}}
	tables := 0
	for _, name := range order {
		read, known := moduleParts[name]
		if !known {
			b.costs.Extras = appended(account, b.costs.Extras, b.intern(name))
			continue
		}
		if read.table {
			tables++
		}
		if err := read.take(b, assigned[name]); err != nil {
			return nil, err
		}
	}
	if tables == 0 {
		return nil, &NotCalibrationError{"the module has none of the tables TRACES, UNITS, DENSITIES and NONARENA"}
	}
	return b.costs, nil
}

// modulePart is how what is assigned to a name is read.
type modulePart struct {
	table bool
	take  func(*builder, value) error
}

var moduleParts = map[string]modulePart{
	"ALGAN_VERSION":      {take: func(b *builder, v value) error { return b.textInto(&b.costs.Version, v) }},
	"GIT_COMMIT":         {take: func(b *builder, v value) error { return b.textInto(&b.costs.Commit, v) }},
	"GENERATED_UTC":      {take: func(b *builder, v value) error { return b.textInto(&b.costs.Generated, v) }},
	"SCHEMA_FINGERPRINT": {take: func(b *builder, v value) error { return b.textInto(&b.costs.Fingerprint, v) }},
	"ENV_FINGERPRINT":    {take: (*builder).environment},
	"CORPUS":             {take: (*builder).corpus},
	"DENSITY_PERCENTILE": {take: func(b *builder, v value) error { return floatInto(&b.costs.DensityPercentile, v) }},
	"DENSITY_SAFETY":     {take: func(b *builder, v value) error { return floatInto(&b.costs.DensitySafety, v) }},
	"TRACES":             {table: true, take: (*builder).traces},
	"UNITS":              {table: true, take: (*builder).units},
	"DENSITIES":          {table: true, take: (*builder).densities},
	"NONARENA":           {table: true, take: (*builder).ratios},
}

// builder makes the costs of literals, with the memory accounted for.
type builder struct {
	account  *account
	costs    *recorder.Costs
	interned map[string]string
	placed   map[string]int // where a scope on a route stands, as in Python the last one counts
}

// intern holds each text once.
func (b *builder) intern(text string) string {
	known, ok := b.interned[text]
	if !ok {
		b.account.take(int64(len(text)) + 64)
		known, b.interned[text] = text, text
	}
	return known
}

func (b *builder) textInto(into *string, v value) error {
	switch v.kind() {
	case kindNone:
		return nil
	case kindText:
		*into = b.intern(v.text())
		return nil
	}
	return v.malformed("a string is expected, and here is " + kindNames[v.kind()])
}

func floatInto(into *float64, v value) error {
	if v.kind() != kindFloat && v.kind() != kindInt {
		return v.malformed("a number is expected, and here is " + kindNames[v.kind()])
	}
	if *into = v.float(); *into < 0 {
		return v.malformed("a number is negative that counts something")
	}
	return nil
}

func intInto(into *int64, v value) error {
	if v.kind() != kindInt && v.kind() != kindBool {
		return v.malformed("an integer is expected, and here is " + kindNames[v.kind()])
	}
	*into = v.node().n
	return nil
}

// flat is a literal without others in it, as text.
func (b *builder) flat(v value) (string, error) {
	switch v.kind() {
	case kindText:
		return b.intern(v.text()), nil
	case kindInt:
		return b.intern(strconv.FormatInt(v.node().n, 10)), nil
	case kindFloat:
		return b.intern(strconv.FormatFloat(v.float(), 'g', -1, 64)), nil
	case kindBool:
		return b.intern(map[int64]string{0: "False", 1: "True"}[v.node().n]), nil
	case kindNone:
		return "None", nil
	}
	return "", v.malformed("a string or a number is expected, and here is " + kindNames[v.kind()])
}

// eachPair reads the pairs of a dictionary whose keys are strings.
func (b *builder) eachPair(v value, take func(key string, item value) error) error {
	if v.kind() != kindDict {
		return v.malformed("a dictionary is expected, and here is " + kindNames[v.kind()])
	}
	for key, item := range v.pairs {
		if key.kind() != kindText {
			return key.malformed("a key is a string, and here is " + kindNames[key.kind()])
		}
		if err := take(b.intern(key.text()), item); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) environment(v value) error {
	return b.eachPair(v, func(key string, item value) error {
		text, err := b.flat(item)
		b.costs.Environment = appended(b.account, b.costs.Environment, recorder.DumpSetting{Key: key, Value: text})
		return err
	})
}

func (b *builder) corpus(v value) error {
	if !v.isSequence() {
		return v.malformed("a tuple is expected, and here is " + kindNames[v.kind()])
	}
	for item := range v.items {
		text, err := b.flat(item)
		if err != nil {
			return err
		}
		b.costs.Corpus = appended(b.account, b.costs.Corpus, text)
	}
	return nil
}

// ratios reads the table of transients outside the arena.
func (b *builder) ratios(v value) error {
	b.costs.RatiosKnown = true
	return b.eachPair(v, func(name string, item value) error {
		ratio := recorder.RatioCost{Name: name}
		err := b.eachPair(item, func(key string, item value) error {
			switch key {
			case "ratio":
				return floatInto(&ratio.Ratio, item)
			case "ratio_p95":
				return floatInto(&ratio.P95, item)
			case "samples":
				return intInto(&ratio.Samples, item)
			}
			return nil
		})
		b.costs.Ratios = appended(b.account, b.costs.Ratios, ratio)
		return err
	})
}
