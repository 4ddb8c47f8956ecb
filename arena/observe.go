package arena

import (
	"path"
	"reflect"
	"runtime"
	"strings"
)

// UnknownCaller is the caller of an allocation that nothing on the stack
// explains.
const UnknownCaller = "<unknown>"

const (
	// directly is the depth of a caller that calls Alloc or its like.
	directly = 1
	// callerDepth is how many frames are looked at where the caller is not at
	// the depth it should be, as in a goroutine that begins with Alloc.
	callerDepth = 8
)

// SetObserver puts an observer in place of the current one, which it returns
// so that it can be put back. Nil stops observing. A scope that one observer
// saw opening is closed for that one alone: an observer that comes back closes
// its own scopes, and misses what happened while it was away.
//
// The new observer is told nothing of the past: State has it.
func (a *Arena) SetObserver(observer Observer) (previous Observer) {
	previous = a.observer
	a.observer = observer
	a.watcher = a.watcherOf(observer)
	a.quiet = observer == nil && a.managed && !a.released && !a.poison.on
	return previous
}

// Observer is the current observer; nil while nobody observes.
func (a *Arena) Observer() Observer { return a.observer }

// watcherOf numbers an observer: one that has scopes open keeps its number.
func (a *Arena) watcherOf(observer Observer) uint64 {
	if observer == nil {
		return 0
	}
	// An observer whose type cannot be compared is a new one every time.
	if reflect.ValueOf(observer).Comparable() {
		for i := range a.scopes {
			other := a.scopes[i].observer
			if reflect.ValueOf(other).Comparable() && other == observer {
				return a.scopes[i].watcher
			}
		}
	}
	a.watchers++
	return a.watchers
}

// observe adds the pointers and tells the observer, of which there must be one.
func (a *Arena) observe(event Event) {
	event.Forward, event.Reverse = a.forward, a.reverse
	a.observer.ObserveArena(event)
}

// callerNames finds who allocates. Names are looked up once per place in the
// program, so that recording makes no garbage.
type callerNames struct {
	names map[uintptr]string // by program counter; "" for this package and the runtime
	stack [callerDepth]uintptr
}

// ownPackage is how the names of this package's functions begin.
var ownPackage = reflect.TypeFor[Arena]().PkgPath() + "."

// caller is the innermost function on the stack that is not of this package.
// The depth is how many of its functions lie between the caller and allocate,
// and between allocate and here. Every frame that is unwound costs more than
// the allocation, so only the one at that depth is asked for at first.
func (c *callerNames) caller(depth int) string {
	const skip = 3 // Callers, caller, allocate
	if runtime.Callers(skip+depth, c.stack[:1]) == 1 {
		if name := c.name(c.stack[0]); name != "" {
			return name
		}
	}
	count := runtime.Callers(skip, c.stack[:])
	for _, counter := range c.stack[:count] {
		if name := c.name(counter); name != "" {
			return name
		}
	}
	return UnknownCaller
}

// name is the function at a program counter.
func (c *callerNames) name(counter uintptr) string {
	if name, known := c.names[counter]; known {
		return name
	}
	return c.learn(counter)
}

// learn looks a program counter up and remembers it.
func (c *callerNames) learn(counter uintptr) string {
	frame, _ := runtime.CallersFrames([]uintptr{counter}).Next()
	name := path.Base(frame.Function)
	if strings.HasPrefix(frame.Function, ownPackage) || strings.HasPrefix(frame.Function, "runtime.") {
		name = ""
	}
	if c.names == nil {
		c.names = map[uintptr]string{}
	}
	c.names[counter] = name
	return name
}
