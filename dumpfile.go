package main

import (
	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/recorder/open"
)

// readDump reads a memory dump and builds its indexes beside the decoding, so
// that little is left to do when the file ends. watch.Partial is called as by
// the reader.
func readDump(path string, format *open.Format, watch open.Watch) (*dump.Index, error) {
	ahead := newIndexing()
	partial := watch.Partial
	watch.Partial = func(part *recorder.Dump) {
		ahead.offer(part)
		if partial != nil {
			partial(part)
		}
	}
	read, err := format.ReadDump(path, watch)
	builder := ahead.finish()
	if err != nil {
		return nil, err
	}
	return builder.Finish(read), nil
}

// indexing builds an index in a goroutine of its own while a dump is read.
type indexing struct {
	builder *dump.Builder
	parts   chan *recorder.Dump
	ended   chan struct{}
	cause   any // of its panic
}

func newIndexing() *indexing {
	i := &indexing{builder: dump.NewBuilder(), parts: make(chan *recorder.Dump, 1), ended: make(chan struct{})}
	go func() {
		defer close(i.ended)
		defer func() { i.cause = recover() }()
		for part := range i.parts {
			i.builder.Read(part)
		}
	}()
	return i
}

// offer hands a part over unless the goroutine is busy: it takes the next one
// then, which holds this one too.
func (i *indexing) offer(part *recorder.Dump) {
	select {
	case i.parts <- part:
	default:
	}
}

// finish ends the goroutine and returns the builder. A panic goes on in the
// caller, who knows how to end the program.
func (i *indexing) finish() *dump.Builder {
	close(i.parts)
	<-i.ended
	if i.cause != nil {
		panic(i.cause)
	}
	return i.builder
}

// dumpStatus says whether a dump is whole.
func dumpStatus(read *recorder.Dump) (model.Status, string) {
	if !read.Truncated {
		return model.StatusComplete, ""
	}
	if last := len(read.Problems) - 1; last >= 0 { // what the reader says of its end comes last
		return model.StatusCut, read.Problems[last]
	}
	return model.StatusCut, "the dump ends early: what was read of it is here"
}
