package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"vramscope/model"
	"vramscope/recorder"
)

// selfEvery is how often this program looks at its own cost.
const selfEvery = 2 * time.Second

// watchSelf tells the store what this program itself takes.
func (h *hub) watchSelf() {
	h.spawn(func() {
		ticker := time.NewTicker(selfEvery)
		defer ticker.Stop()
		lastTime, lastCPU := time.Now(), cpuTime()
		percent := -1.0
		for {
			cost := model.SelfCost{CPUPercent: percent, Resident: residentBytes(), DeviceBytes: ownDeviceBytes(h.Snapshot())}
			h.tell(func(store *model.Store) { store.SetSelf(cost) })
			select {
			case <-ticker.C:
			case <-h.ctx.Done():
				return
			}
			now, cpu := time.Now(), cpuTime()
			percent = 100 * float64(cpu-lastCPU) / float64(now.Sub(lastTime))
			lastTime, lastCPU = now, cpu
		}
	})
}

// cpuTime is the processor time of this process so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentBytes is the resident memory of this process, 0 where it is not
// known.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// ownDeviceBytes is the device memory that the driver counts for this process:
// 0 where a GPU lists its processes and this one is not among them, -1 where
// no GPU does.
func ownDeviceBytes(snapshot *model.Snapshot) int64 {
	own := "process:" + strconv.Itoa(os.Getpid())
	bytes := int64(-1)
	for _, view := range snapshot.Sources {
		if view.Kind != recorder.KindDevice || view.File != "" || len(view.Sets) == 0 || view.FindSet("processes") != nil {
			continue
		}
		bytes = max(bytes, 0)
		if set := view.FindSet(own); set != nil {
			if used, known := set.Values.Get(recorder.Used); known {
				bytes += used
			}
		}
	}
	return bytes
}
