package dump

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"vramscope/recorder"
)

// Frames that are no frames: what stands in a tree for blocks without any.
const (
	FrameRoot            = uint32(math.MaxUint32)     // all stacks together
	FrameBeforeRecording = uint32(math.MaxUint32 - 1) // blocks that are older than the recording
	FrameNoStack         = uint32(math.MaxUint32 - 2) // the dump has no stack for it
)

var specialFrames = map[uint32]string{
	FrameRoot: "all", FrameBeforeRecording: "before recording", FrameNoStack: "no stack recorded",
}

// FrameName is a frame's function, fit for a terminal.
func (x *Index) FrameName(frame uint32) string {
	if name, special := specialFrames[frame]; special {
		return name
	}
	if int(frame) >= len(x.Dump.Frames) {
		return "?"
	}
	return CleanText(x.text(x.Dump.Frames[frame].Name))
}

// FramePlace is a frame's file and line, fit for a terminal: "train.py:12",
// with "?" for a line that is not known; "" for a frame that is none.
func (x *Index) FramePlace(frame uint32) string {
	if int(frame) >= len(x.Dump.Frames) {
		return ""
	}
	f := &x.Dump.Frames[frame]
	line := "?"
	if f.Line >= 0 {
		line = strconv.FormatInt(f.Line, 10)
	}
	return CleanText(x.text(f.File)) + ":" + line
}

func (x *Index) text(number uint32) string {
	if int(number) >= len(x.Dump.Strings) {
		return ""
	}
	return x.Dump.Strings[number]
}

// Stack is the frames of a stack, innermost first; one of the frames that are
// none for BeforeRecording and for an empty stack.
func (x *Index) Stack(stack int32) []uint32 {
	if stack == BeforeRecording {
		return []uint32{FrameBeforeRecording}
	}
	if frames := x.Dump.Stacks.Stack(stack); len(frames) > 0 {
		return frames
	}
	return []uint32{FrameNoStack}
}

// FoldedStack is Stack without frames that only add noise. A stack of noise
// alone keeps its innermost frame.
func (x *Index) FoldedStack(stack int32) []uint32 {
	frames := x.Stack(stack)
	noise := x.noise()
	kept := make([]uint32, 0, len(frames))
	for _, frame := range frames {
		if int(frame) >= len(noise) || !noise[frame] {
			kept = append(kept, frame)
		}
	}
	if len(kept) == 0 {
		kept = append(kept, frames[0])
	}
	return kept
}

// folding knows which frames only add noise, and the trees.
type folding struct {
	noise func() []bool // by frame
	trees [2][2]func() *Tree
}

func (f *folding) init(dump *recorder.Dump) {
	f.noise = sync.OnceValue(func() []bool { return noiseOf(dump) })
	for direction := range f.trees {
		for fold := range f.trees[direction] {
			f.trees[direction][fold] = sync.OnceValue(func() *Tree {
				var noise []bool
				if fold == 1 {
					noise = f.noise()
				}
				return growTree(dump, Direction(direction), noise)
			})
		}
	}
}

// noiseNames and noiseFiles mark frames of the interpreter and of stack
// gathering, which stand in every stack; PyTorch's own memory viewer hides
// the same.
var (
	noiseNames = []string{
		"unwind::unwind", "CapturedTraceback::gather", "gather_with_cpp", "_start", "__libc_start_main",
		"PyEval_", "PyObject_", "PyFunction_",
	}
	noiseFiles = []string{
		"core/boxing", "/Register", "/Redispatch", "pythonrun.c", "Modules/main.c", "Objects/call.c",
		"Objects/methodobject.c", "pycore_ceval.h", "ceval.c", "cpython/abstract.h",
	}
)

func noiseOf(dump *recorder.Dump) []bool {
	noise := make([]bool, len(dump.Frames))
	isName := eachString(dump, func(text string) bool { return containsAny(text, noiseNames) })
	isFile := eachString(dump, func(text string) bool { return containsAny(text, noiseFiles) })
	for i := range dump.Frames {
		noise[i] = isName(dump.Frames[i].Name) || isFile(dump.Frames[i].File)
	}
	return noise
}

// eachString answers a question about strings by their number and asks it once
// for each.
func eachString(dump *recorder.Dump, ask func(text string) bool) func(number uint32) bool {
	const unknown, no, yes = 0, 1, 2
	answers := make([]uint8, len(dump.Strings))
	return func(number uint32) bool {
		if int(number) >= len(answers) {
			return false
		}
		if answers[number] == unknown {
			answers[number] = no
			if ask(dump.Strings[number]) {
				answers[number] = yes
			}
		}
		return answers[number] == yes
	}
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// Search is a text that is looked for in names and files of frames, whatever
// the case of its letters. "train.py:12" finds a line.
type Search struct {
	x      *Index
	frames []bool
	before bool
	none   bool
}

// Search finds the frames that contain a text.
func (x *Index) Search(text string) *Search {
	text = strings.ToLower(strings.TrimSpace(text))
	s := &Search{x: x, frames: make([]bool, len(x.Dump.Frames))}
	s.before = strings.Contains(specialFrames[FrameBeforeRecording], text)
	s.none = strings.Contains(specialFrames[FrameNoStack], text)
	contains := eachString(x.Dump, func(name string) bool { return strings.Contains(strings.ToLower(name), text) })
	file, line := text, int64(-1)
	if colon := strings.LastIndexByte(text, ':'); colon >= 0 {
		if number, err := strconv.ParseInt(text[colon+1:], 10, 64); err == nil {
			file, line = text[:colon], number
		}
	}
	ends := eachString(x.Dump, func(name string) bool { return strings.HasSuffix(strings.ToLower(name), file) })
	for i := range s.frames {
		f := &x.Dump.Frames[i]
		s.frames[i] = contains(f.Name) || contains(f.File) || line >= 0 && f.Line == line && ends(f.File)
	}
	return s
}

// Frame says whether a frame was found.
func (s *Search) Frame(frame uint32) bool {
	switch frame {
	case FrameBeforeRecording:
		return s.before
	case FrameNoStack:
		return s.none
	}
	return int(frame) < len(s.frames) && s.frames[frame]
}

// Stack says whether any frame of a stack was found.
func (s *Search) Stack(stack int32) bool {
	for _, frame := range s.x.Dump.Stacks.Stack(stack) {
		if int(frame) < len(s.frames) && s.frames[frame] {
			return true
		}
	}
	return stack == BeforeRecording && s.before || stack == 0 && s.none
}

// Filter keeps the totals of stacks in which the text was found.
func (s *Search) Filter(totals []StackTotal) []StackTotal {
	var kept []StackTotal
	for _, total := range totals {
		if s.Stack(total.Stack) {
			kept = append(kept, total)
		}
	}
	return kept
}
