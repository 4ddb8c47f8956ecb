// Package local has the sources that run on this machine without a device: the
// demo render, which is a program to watch, with an arena and a pool in host
// memory, and the machine's own memory.
//
// The render does what renderers do with memory, and nothing else: its frames
// have no pixels. Everything that is shown of it is measured while it does so.
// From one seed it does the same things in the same order each time.
package local
