package algan

import (
	"bytes"
	"errors"
	"io"

	"vramscope/recorder"
)

// maximumBytes is the longest file that is read; algan's own has 97 kB.
const maximumBytes = 16 << 20

// ReadModule reads a module of literals, mem_usage.py. The errors are
// *RefusedError, *MalformedError, *NotCalibrationError, *TooDenseError,
// *TooLargeError, or wrap r's own.
func ReadModule(r io.Reader) (*recorder.Costs, error) {
	return read(r, func(source []byte, account *account) (*recorder.Costs, error) {
		assigned, order, err := newParser(source, python, account).assignments()
		if err != nil {
			return nil, err
		}
		return module(assigned, order, account)
	})
}

// ReadProbe reads a file of the probe cache. The errors are those of ReadModule.
func ReadProbe(r io.Reader) (*recorder.Costs, error) {
	return read(r, func(source []byte, account *account) (*recorder.Costs, error) {
		top, err := newParser(source, jsonText, account).alone()
		if err != nil {
			return nil, err
		}
		return probe(top, account)
	})
}

func read(r io.Reader, interpret func([]byte, *account) (*recorder.Costs, error)) (costs *recorder.Costs, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			tooDense, ok := failure.(*TooDenseError)
			if !ok {
				panic(failure)
			}
			costs, err = nil, tooDense
		}
	}()
	source, err := io.ReadAll(io.LimitReader(r, maximumBytes+1))
	switch {
	case err != nil:
		return nil, errors.Join(errors.New("the calibration file cannot be read to its end"), err)
	case len(source) > maximumBytes:
		return nil, &TooLargeError{Limit: maximumBytes}
	}
	costs, err = interpret(bytes.TrimPrefix(source, []byte("\ufeff")), newAccount(len(source)))
	if err != nil {
		return nil, err
	}
	costs.Bytes = int64(len(source))
	return costs, nil
}
