// Package local has the sources that run on this machine: a render to watch,
// with an arena and a pool of its own, and the machine's own memory.
//
// The render does what renderers do with memory, and nothing else: its frames
// have no pixels. Everything that is shown of it is measured while it does so.
// From one seed it does the same things in the same order each time.
//
// Its memory is a Device: host memory that plays one, which is the demo, or a
// Card within the limit that it is given, which is a GPU.
package local
