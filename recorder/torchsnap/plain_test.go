package torchsnap

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vramscope/recorder"
)

// plainDump is a dump with every number resolved, for comparison.
type plainDump struct {
	Devices     []plainDevice
	Annotations []recorder.DumpAnnotation
	Settings    []recorder.DumpSetting
	Extras      []string
	Overflowed  bool
	Truncated   bool
	Problems    []string
}

type plainDevice struct {
	Ordinal  int
	Host     bool
	Events   []plainEvent
	Segments []plainSegment
}

type plainEvent struct {
	Action  string
	Address uint64
	Bytes   int64
	Stream  uint64
	Pool    [2]int64
	TimeUs  int64
	Stack   string
	Free    int64 // -1 unknown
	Notes   []recorder.DumpSetting
}

type plainSegment struct {
	Address                             uint64
	Bytes, Allocated, Active, Requested int64
	Stream                              uint64
	Pool                                [2]int64
	Small, Expandable                   bool
	Stack                               string
	Blocks                              []plainBlock
}

type plainBlock struct {
	Address          uint64
	Bytes, Requested int64
	State            recorder.DumpBlockState
	Stack            string
}

// plain resolves a dump.
func plain(dump *recorder.Dump) plainDump {
	p := plainDump{
		Annotations: dump.Annotations, Settings: dump.Settings, Extras: dump.Extras, Overflowed: dump.Overflowed,
		Truncated: dump.Truncated, Problems: dump.Problems,
	}
	stacks := make([]string, dump.Stacks.Len())
	for i := range stacks {
		stacks[i] = plainStack(dump, int32(i))
	}
	for i := range dump.Devices {
		d := &dump.Devices[i]
		made := plainDevice{Ordinal: d.Ordinal, Host: d.Host}
		e := &d.Events
		for row := range e.Len() {
			event := plainEvent{
				e.Action[row].String(), e.Address[row], e.Bytes[row], dump.Streams[e.Stream[row]],
				dump.MemoryPools[e.Pool[row]], e.TimeUs[row], stacks[e.Stack[row]], -1, e.Notes[row],
			}
			if free, ok := e.Free[row]; ok {
				event.Free = free
			}
			made.Events = append(made.Events, event)
		}
		b := &d.Blocks
		for _, s := range d.Segments {
			segment := plainSegment{
				s.Address, s.Bytes, s.Allocated, s.Active, s.Requested, dump.Streams[s.Stream],
				dump.MemoryPools[s.Pool], s.Small, s.Expandable, stacks[s.Stack], nil,
			}
			for row := s.First; row < s.First+s.Count; row++ {
				segment.Blocks = append(segment.Blocks, plainBlock{b.Address[row], b.Bytes[row], b.Requested[row], b.State[row], stacks[b.Stack[row]]})
			}
			made.Segments = append(made.Segments, segment)
		}
		p.Devices = append(p.Devices, made)
	}
	return p
}

func plainStack(dump *recorder.Dump, stack int32) string {
	var lines []string
	for _, number := range dump.Stacks.Stack(stack) {
		f := dump.Frames[number]
		lines = append(lines, fmt.Sprintf("%s %s:%d", dump.Strings[f.Name], dump.Strings[f.File], f.Line))
	}
	return strings.Join(lines, " < ")
}

// difference says in what two values differ, "" for nothing. An empty slice is
// as good as none.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return "" // much sooner than cmp finds out
	}
	return cmp.Diff(want, got, cmpopts.EquateEmpty())
}
