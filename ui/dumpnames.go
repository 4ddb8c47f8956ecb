package ui

import (
	"strconv"
	"strings"

	"vramscope/model/dump"
)

// dumpNames are the names of a dump's frames and stacks as they are drawn, each
// made once.
type dumpNames struct {
	index  *dump.Index
	frames map[uint32]frameName
	stacks map[int32]uint32
	places map[uint32]string // of streams, and of pools with poolBit set
}

const poolBit = 1 << 16

// frameName is a frame in words.
type frameName struct {
	name  string
	place string // file and line; "" for what is no frame
	short string // the same without the folders
}

// maximumNames bounds the names that are kept.
const maximumNames = 1 << 16

// of takes the names of a dump.
func (n *dumpNames) of(index *dump.Index) *dumpNames {
	if n.index != index || len(n.frames) > maximumNames || len(n.stacks) > maximumNames {
		*n = dumpNames{index: index, frames: map[uint32]frameName{}, stacks: map[int32]uint32{}, places: map[uint32]string{}}
	}
	return n
}

// frame is a frame in words.
func (n *dumpNames) frame(frame uint32) frameName {
	name, known := n.frames[frame]
	if !known {
		name = frameName{name: n.index.FrameName(frame), place: n.index.FramePlace(frame)}
		name.short = name.place[strings.LastIndexByte(name.place, '/')+1:]
		n.frames[frame] = name
	}
	return name
}

// stack is the innermost frame of a stack that is no noise.
func (n *dumpNames) stack(stack int32) uint32 {
	frame, known := n.stacks[stack]
	if !known {
		frame = n.index.FoldedStack(stack)[0]
		n.stacks[stack] = frame
	}
	return frame
}

// lines are the frames of a stack that are no noise, innermost first, one a
// line.
func (n *dumpNames) lines(stack int32) (lines []string) {
	frames := n.index.FoldedStack(stack)
	for _, frame := range frames[:min(len(frames), maximumFrames)] {
		name := n.frame(frame)
		lines = append(lines, "  "+name.name+"  "+name.place)
	}
	return lines
}

// stream is a stream in the order of appearance: "s0" is the default one.
func (n *dumpNames) stream(stream uint16) string {
	name, known := n.places[uint32(stream)]
	if !known {
		name = n.index.StreamName(stream)
		n.places[uint32(stream)] = name
	}
	return name
}

// pool is a memory pool's ID: "0,0" is the default one.
func (n *dumpNames) pool(pool uint16) string {
	name, known := n.places[uint32(pool)|poolBit]
	if !known {
		id := n.index.PoolID(pool)
		name = strconv.FormatInt(id[0], 10) + "," + strconv.FormatInt(id[1], 10)
		n.places[uint32(pool)|poolBit] = name
	}
	return name
}
