package algan

import "vramscope/recorder"

// probedScope is the one scope that algan probes.
const probedScope = "postprocess"

// probe makes the costs of a file of the probe cache.
func probe(top value, account *account) (*recorder.Costs, error) {
	b := &builder{account: account, costs: &recorder.Costs{Format: "a probe by algan", Probe: true}, interned: map[string]string{}, placed: map[string]int{}}
	if top.kind() != kindDict {
		return nil, &NotCalibrationError{"the file holds " + kindNames[top.kind()] + " and no probe"}
	}
	scope := recorder.ScopeCost{Name: probedScope}
	err := b.eachPair(top, func(key string, item value) (err error) {
		switch key {
		case "fingerprint":
			err = b.textInto(&b.costs.Fingerprint, item)
		case "key":
			err = b.probeRoute(&scope, item)
		case "trace":
			scope.Trace, err = b.trace(item)
		default:
			b.costs.Extras = appended(account, b.costs.Extras, key)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case scope.Trace == nil:
		return nil, &NotCalibrationError{"the file has no trace"}
	}
	b.costs.Scopes = append(b.costs.Scopes, scope)
	return b.costs, nil
}

// probeRoute reads a route, which a probe holds as Python writes it. One that
// cannot be read stands as it is.
func (b *builder) probeRoute(scope *recorder.ScopeCost, v value) error {
	if v.kind() != kindText {
		return v.malformed("the key is a string, and here is " + kindNames[v.kind()])
	}
	text := v.text()
	b.account.take(2 * int64(len(text)))
	key, err := newParser([]byte(text), python, b.account).alone()
	if err == nil {
		scope.Route, err = b.route(key)
	}
	if err != nil {
		scope.Route = []recorder.DumpSetting{{Key: "key", Value: text}}
		b.costs.Problems = append(b.costs.Problems, "the key of the probe is not as algan writes it: "+err.Error())
	}
	return nil
}
