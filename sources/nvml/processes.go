package nvml

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// maxPID is the largest process number of Linux on 64 bits, PID_MAX_LIMIT - 1.
const maxPID = 1<<22 - 1

// processReader asks one device for its processes, and remembers what the
// device cannot answer.
type processReader struct {
	files    processFiles
	compute  field
	graphics field
	usage    field
	missing  map[int]bool // numbers that no process had at the last listing
	since    uint64       // stamp of the newest utilisation sample, microseconds
}

// read lists the processes. total is the device's memory in bytes, 0 if
// unknown. A code that loses the GPU or the driver comes back, with the list
// unknown.
func (r *processReader) read(h handle, total uint64, now time.Time) (Processes, Code) {
	var computing, drawing []processRecord
	asked := false
	if r.compute.open() {
		records, code := h.computeProcesses()
		if code.losesGPU() || code.losesDriver() {
			return Processes{Missing: code.missing()}, code
		}
		r.compute.note(code)
		asked = asked || code == codeSuccess
		computing = records
	}
	if r.graphics.open() {
		records, code := h.graphicsProcesses()
		if code.losesGPU() || code.losesDriver() {
			return Processes{Missing: code.missing()}, code
		}
		r.graphics.note(code)
		asked = asked || code == codeSuccess
		drawing = records
	}
	if !asked {
		return Processes{Missing: cmp.Or(r.compute.why, r.graphics.why)}, codeSuccess
	}
	if why := judgeProcesses(total, computing, drawing); why != "" {
		return Processes{Missing: why, At: now}, codeSuccess
	}
	list := mergeProcesses(computing, drawing)
	r.name(list)
	return Processes{List: list, Known: true, Source: SourceNVML, At: now}, codeSuccess
}

// judgeProcesses says why the records cannot be what the driver meant, or "".
// Drivers have been seen that fill the caller's array with records of another
// size (early R535, and one that used v1's), so that from the second one on
// numbers and sizes change places: one impossible record spoils the list.
func judgeProcesses(total uint64, lists ...[]processRecord) string {
	for _, records := range lists {
		for i, p := range records {
			var what string
			switch {
			case p.pid == 0 || p.pid > maxPID:
				what = fmt.Sprintf("process number %d", p.pid)
			case p.memory != notAvailable && total > 0 && p.memory > total:
				what = fmt.Sprintf("%d bytes for process %d on a device of %d", p.memory, p.pid, total)
			default:
				continue
			}
			return fmt.Sprintf("the driver reports garbage (%s in record %d of %d): a newer driver may cure it",
				what, i+1, len(records))
		}
	}
	return ""
}

// mergeProcesses makes one process of the records with one number and
// instance. Both lists carry a process's whole memory, so that the larger
// counts and nothing is added up.
func mergeProcesses(computing, drawing []processRecord) []Process {
	type key struct{ pid, instance, compute uint32 }
	list := make([]Process, 0, len(computing)+len(drawing))
	place := make(map[key]int, cap(list))
	add := func(p processRecord, kind Kind) {
		k := key{p.pid, p.instance, p.compute}
		memory := unknown("the driver does not count it per process here, as under WSL and WDDM")
		if p.memory != notAvailable {
			memory = known(p.memory, SourceNVML)
		}
		i, seen := place[k]
		if !seen {
			place[k] = len(list)
			list = append(list, Process{
				PID: int(p.pid), Kind: kind, Memory: memory, Facts: Facts{UID: -1},
				Instance: instanceNumber(p.instance), Compute: instanceNumber(p.compute),
			})
			return
		}
		list[i].Kind |= kind
		if memory.Known && (!list[i].Memory.Known || memory.Value > list[i].Memory.Value) {
			list[i].Memory = memory
		}
	}
	for _, p := range computing {
		add(p, KindCompute)
	}
	for _, p := range drawing {
		add(p, KindGraphics)
	}
	slices.SortStableFunc(list, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.Memory.Value, a.Memory.Value), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// name fills in what /proc knows about the processes, and doubts those that it
// does not know.
func (r *processReader) name(list []Process) {
	var missing map[int]bool
	for i := range list {
		p := &list[i]
		facts, found := r.files.facts(p.PID)
		if !found {
			if missing == nil {
				missing = make(map[int]bool)
			}
			missing[p.PID] = true
			p.Doubt = r.absent(p.PID)
			continue
		}
		p.Facts = facts
		if r.files.initialNamespace {
			continue
		}
		switch uses, told := r.files.usesGPU(p.PID); {
		case !told:
			p.Doubt = "named by the process numbers of this container: the driver may mean another process of the host"
		case !uses:
			p.Facts = Facts{UID: -1}
			p.Doubt = "outside this container: the process with this number here has no GPU open"
		}
	}
	r.missing = missing
}

// absent says why a process that the driver lists is not to be found.
func (r *processReader) absent(pid int) string {
	switch {
	case r.files.exists(pid):
		return "its name is hidden from this user"
	case !r.files.initialNamespace:
		return "outside this container: no process here has this number"
	case r.missing[pid]:
		return "the driver reports garbage, or memory of a process that has ended: no process has this number"
	}
	return "no process has this number any more"
}

// addUtilization puts each process's share of the SMs into a copy of the
// list. A code that loses the GPU or the driver comes back.
func (r *processReader) addUtilization(h handle, processes Processes) (Processes, Code) {
	if !processes.Known || len(processes.List) == 0 {
		return processes, codeSuccess
	}
	why := r.usage.why
	newest := make(map[int]utilizationSample)
	if r.usage.open() {
		samples, code := h.processUtilization(r.since)
		if code.losesGPU() || code.losesDriver() {
			return processes, code
		}
		if code == codeNotFound { // no process did anything since the last time
			code = codeSuccess
		}
		r.usage.note(code)
		why = r.usage.why
		for _, s := range samples {
			if s.sm > 100 || s.stamp <= newest[int(s.pid)].stamp {
				continue
			}
			newest[int(s.pid)] = s
			r.since = max(r.since, s.stamp)
		}
	}
	processes.List = slices.Clone(processes.List)
	for i := range processes.List {
		p := &processes.List[i]
		if s, ok := newest[p.PID]; ok {
			p.Utilization = known(uint64(s.sm), SourceNVML)
		} else {
			p.Utilization = unknown(cmp.Or(why, "the driver has no new sample of it"))
		}
	}
	return processes, codeSuccess
}
