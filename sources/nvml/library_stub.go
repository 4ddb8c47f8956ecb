//go:build !cgo || !linux

package nvml

// openLibrary is the library of a build that cannot load one: go-nvml needs
// cgo, and NVML is watched on Linux only.
func openLibrary(string) library { return noLibrary{} }

type noLibrary struct{}

func (noLibrary) open() (Code, string)             { return CodeNone, "" }
func (noLibrary) devices() ([]slot, Code)          { return nil, codeUninitialized }
func (noLibrary) faults([]handle) (faultSet, Code) { return nil, codeUninitialized }
func (noLibrary) close()                           {}
