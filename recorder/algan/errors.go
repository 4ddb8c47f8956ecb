package algan

import "fmt"

// RefusedError is a file that holds something else than literals: a name, a
// call, an operator. It was not executed.
type RefusedError struct {
	Line, Column int // from 1, in characters
	What         string
}

// Error is one sentence that says what to do.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("line %d, column %d holds %s, and algan's tables hold literals alone: the file was refused and was not executed; write it anew with python -m algan.utils.calibrate_memory", e.Line, e.Column, e.What)
}

// MalformedError is a file whose literals are broken, or are not what algan's
// tables hold there.
type MalformedError struct {
	Line, Column int // from 1, in characters
	What         string
}

// Error is one sentence that says what to do.
func (e *MalformedError) Error() string {
	return fmt.Sprintf("the calibration file is malformed at line %d, column %d: %s; write it anew with python -m algan.utils.calibrate_memory", e.Line, e.Column, e.What)
}

// NotCalibrationError is a well-formed file that holds no table.
type NotCalibrationError struct{ What string }

// Error is one sentence that says what to do.
func (e *NotCalibrationError) Error() string {
	return e.What + "; open the mem_usage.py that python -m algan.utils.calibrate_memory writes, or a file of algan's mem_probe folder"
}

// TooDenseError is a file whose content would take more memory than 4 bytes for
// each of its bytes, plus 64 MiB.
type TooDenseError struct {
	Needed, Limit int64 // bytes of memory
}

// Error is one sentence that says what to do.
func (e *TooDenseError) Error() string {
	return fmt.Sprintf("the calibration file would take %d bytes of memory, more than the %d that a file of its length may: it was refused; write it anew with python -m algan.utils.calibrate_memory", e.Needed, e.Limit)
}

// TooLargeError is a file that is longer than any calibration file.
type TooLargeError struct {
	Limit int64 // bytes that are read at most
}

// Error is one sentence that says what to do.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the calibration file is longer than %d bytes, and algan's have 100 kB: it was refused; split its tables if it is real", e.Limit)
}
