//go:build linux

package nvml

import (
	"debug/elf"
	"os"
	"testing"
)

// A binary that asks the loader to bind everything at once dies before main
// where the driver lacks one function, and without a driver always. This
// binary was linked with the flags that the program is linked with. Where they
// are wrong and there is no driver it does not come as far as this test: the
// loader's "undefined symbol" is then the whole message.
func TestOurBinaryBindsLazily(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const cure = `: build with CGO_LDFLAGS="-O2 -g -Wl,-z,lazy"`
	flags := func(tag elf.DynTag) uint64 {
		values, err := f.DynValue(tag)
		if err != nil || len(values) == 0 {
			return 0 // linked statically, or without the tag
		}
		return values[0]
	}
	if elf.DynFlag(flags(elf.DT_FLAGS))&elf.DF_BIND_NOW != 0 {
		t.Error("DT_FLAGS has BIND_NOW" + cure)
	}
	if elf.DynFlag1(flags(elf.DT_FLAGS_1))&elf.DF_1_NOW != 0 {
		t.Error("DT_FLAGS_1 has NOW" + cure)
	}
	if values, _ := f.DynValue(elf.DT_BIND_NOW); len(values) > 0 {
		t.Error("the dynamic section has BIND_NOW" + cure)
	}
}
