package python_test

import (
	"fmt"
	"strings"
	"testing"

	"vramscope/recorder"
)

// The collection of garbage says what it has freed, which a cache keeps and
// nobody else tells of: on the devices that the command means, each byte once.
func TestACollectionOfGarbageTellsWhatItFreed(t *testing.T) {
	const ring = "ring = [%s]\nring.append(ring)\ndel ring\n"
	const rmmPool = `
import torch, rmm, rmm.mr, cupy, driver
from rmm.allocators.cupy import rmm_cupy_allocator
driver.activate(0)
pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=0)
rmm.mr.set_current_device_resource(rmm.mr.StatisticsResourceAdaptor(pool))
cupy.cuda.set_allocator(rmm_cupy_allocator)
kept = [torch.empty(2 * MIB), cupy.empty(10 * MIB)]
`
	const two = "import torch\nkept = [torch.empty(2 * MIB, device='cuda:0'), torch.empty(3 * MIB, device='cuda:1')]\n"
	for _, c := range []struct {
		name, script  string
		device        int // the command's, -1 is every one
		what          string
		before, after int64
	}{
		{"torch", "import torch\nkept = torch.empty(2 * MIB)\n" + fmt.Sprintf(ring, "torch.empty(40 * MIB)"), -1, ": allocated", 42 * mib, 2 * mib},
		{"none", "import torch\nkept = torch.empty(2 * MIB)\n", -1, ": allocated", 2 * mib, 2 * mib},
		{"CuPy in a pool of RMM, beside torch", rmmPool + fmt.Sprintf(ring, "cupy.empty(40 * MIB)"), -1, ": allocated", 52 * mib, 12 * mib},
		{"every device", two + fmt.Sprintf(ring, "torch.empty(40 * MIB, device='cuda:0'), torch.empty(60 * MIB, device='cuda:1')"), -1, ": allocated", 105 * mib, 5 * mib},
		{"one device", two + fmt.Sprintf(ring, "torch.empty(40 * MIB, device='cuda:0'), torch.empty(60 * MIB, device='cuda:1')"), 1, ": allocated", 63 * mib, 3 * mib},
		{"an allocator that counts nothing", "import cupy\ncupy.cuda.set_allocator(cupy.cuda.malloc_async)\nimport driver\ndriver.activate(0)", -1, "", -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := startAllocators(t, "gc.disable()\n"+c.script, "FAKE_DEVICES=2")
			r.greetedWhere(func(hello *recorder.Hello) bool { return len(hello.GPUs) == 2 })
			args := recorder.CommandArgs{}
			if c.device >= 0 {
				args.Device = r.hello.GPUs[c.device].UUID
			}
			line := lineStarting(r.do(recorder.CommandForceReclaim, args), "collect garbage, ")
			if line == nil || !strings.HasSuffix(line.What, "objects"+c.what) && !strings.HasSuffix(line.What, "object"+c.what) {
				t.Fatalf("the line is %+v", line)
			}
			if before, after := optional(line.Before), optional(line.After); before != c.before || after != c.after || line.Freed != nil {
				t.Errorf("it says %d → %d, %d back to the driver, and it is %d → %d, and nothing went back", before, after, optional(line.Freed), c.before, c.after)
			}
			r.Quiet()
		})
	}
}

// Of a program without a device it is the process that becomes smaller.
func TestACollectionOfGarbageOnTheHost(t *testing.T) {
	r := startAllocators(t, `
import torch
gc.disable()
ring = [bytearray(b"x") * (64 * MIB)]
ring.append(ring)
del ring
`)
	r.offers(recorder.CommandForceReclaim)
	ack := r.do(recorder.CommandForceReclaim, recorder.CommandArgs{})
	line := lineStarting(ack, "collect garbage, ")
	if line == nil || !strings.HasSuffix(line.What, ": resident set") || optional(line.Before)-optional(line.After) < 60*mib || line.Freed != nil {
		t.Errorf("the answer is %+v", ack.Result)
	}
	r.Quiet()
}
