package algan

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"vramscope/recorder"
)

// checkCosts holds what was read to what its readers rely on.
func checkCosts(t *testing.T, costs *recorder.Costs, err error) {
	t.Helper()
	if err != nil {
		var refused *RefusedError
		var malformed *MalformedError
		var none *NotCalibrationError
		var dense *TooDenseError
		if !errors.As(err, &refused) && !errors.As(err, &malformed) && !errors.As(err, &none) && !errors.As(err, &dense) {
			t.Fatalf("an error of no kind: %v", err)
		}
		return
	}
	for i := range costs.Scopes {
		scope := &costs.Scopes[i]
		if (scope.Trace != nil) == (scope.Units != nil) || scope.Density != nil && scope.Units == nil {
			t.Fatalf("scope %+v has no part, or several", scope)
		}
		for _, frames := range []int64{0, 1, 64, 1 << 62} {
			replayed, err := scope.Trace.Replay(frames, recorder.ReplayFrom{})
			if err == nil && (replayed.Peak < 0 || replayed.Peak < replayed.End || replayed.ReversePeak < replayed.ReverseEnd) {
				t.Fatalf("%+v at %d frames is %+v", scope.Trace, frames, replayed)
			}
		}
	}
}

func FuzzModule(f *testing.F) {
	if module, err := os.ReadFile("testdata/mem_usage.py"); err == nil {
		f.Add(module)
	}
	f.Add([]byte("TRACES = {'a': {(): (('A', 9223372036854775807, -9223372036854775808, 2147483647, True), ('(', True), (')',),)}}"))
	f.Add([]byte("'''doc''' # x\nX = -1.5e3, ('a' 'b'\n r'\\')"))
	f.Fuzz(func(t *testing.T, content []byte) {
		costs, err := ReadModule(bytes.NewReader(content))
		checkCosts(t, costs, err)
	})
}

func FuzzProbe(f *testing.F) {
	if probe, err := os.ReadFile("testdata/0123456789abcdef01234567.json"); err == nil {
		f.Add(probe)
	}
	f.Add([]byte(`{"key": "(('a', '\\ud834\\udd1e'),)", "trace": [["(", true], [")"]], "fingerprint": null}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		costs, err := ReadProbe(bytes.NewReader(content))
		checkCosts(t, costs, err)
	})
}
