//go:build cuda && linux && cgo

package cuda

import (
	"debug/elf"
	"os"
	"strings"
	"testing"
)

// The program starts where there is nothing of CUDA: no library of it is needed,
// and nothing is bound before it is called.
func TestProgramNeedsNoCUDAToStart(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) == 0 {
		t.Fatalf("needed libraries %q, %v", libraries, err)
	}
	for _, library := range libraries {
		if strings.Contains(library, "cuda") || strings.Contains(library, "nvidia") {
			t.Errorf("it needs %s to start", library)
		}
	}
	for tag, bad := range map[elf.DynTag]uint64{elf.DT_BIND_NOW: ^uint64(0), elf.DT_FLAGS: uint64(elf.DF_BIND_NOW), elf.DT_FLAGS_1: uint64(elf.DF_1_NOW)} {
		values, err := file.DynValue(tag)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range values {
			if value&bad != 0 {
				t.Errorf("%v is %#x: the loader would look for the driver at the start", tag, value)
			}
		}
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range symbols {
		if symbol.Name == "cuMemAlloc_v2" && symbol.Section == elf.SHN_UNDEF {
			return
		}
	}
	t.Error("cuMemAlloc_v2 is not left to be found in the driver")
}
