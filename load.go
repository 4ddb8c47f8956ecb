package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/recorder/open"
	"vramscope/sources/file"
)

// load reads a recording or a memory dump to its end and returns everything it
// holds, and the ID that its sources share.
func (p *program) load(ctx context.Context, path string) (*model.Snapshot, string, error) {
	if err := readable(path); err != nil {
		return nil, "", err
	}
	format, err := open.Recognise(path)
	if err != nil {
		return nil, "", err
	}
	switch {
	case format.ReadDump != nil:
		return loadDump(ctx, path, format)
	case format.ReadCosts != nil:
		return loadCosts(path, format)
	}
	opened, err := open.Open(path, open.Watch{})
	if err != nil {
		return nil, "", err
	}
	reader := opened.Recording
	defer reader.Close()
	id := "file:" + path
	store := model.NewStore(model.DefaultOptions())
	store.Add(model.SourceInfo{ID: id, Name: path, File: path})
	status, why := model.StatusComplete, ""
	goesOn := map[string]bool{} // sources that have said hello
	for {
		record, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			status, why = model.StatusCut, err.Error()
			break
		}
		if err := store.Fold(id, record); err != nil {
			return nil, "", err
		}
		switch record.(type) {
		case *recorder.Hello:
			goesOn[record.Source()] = true
		case *recorder.Bye:
			delete(goesOn, record.Source())
		}
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
	}
	problems := reader.Problems()
	if status == model.StatusComplete && (problems.CutBytes > 0 || reader.Truncated() || len(goesOn) > 0) {
		cut := &file.CutError{Path: path, Bytes: problems.CutBytes, Packed: reader.Truncated(), LastNs: problems.LastNs,
			Sources: slices.Sorted(maps.Keys(goesOn)), BadLines: problems.BadLines + problems.LongLines}
		status, why = model.StatusCut, cut.Error()
	}
	store.SetProgress(id, model.Progress{Done: reader.Size(), Size: reader.Size(), Problems: problems})
	store.SetStatus(id, status, why)
	return store.Snapshot(recorder.MonotonicClock()(), time.Now().UnixNano()), id, nil
}

// loadDump reads a memory dump as a snapshot's only source.
func loadDump(ctx context.Context, path string, format *open.Format) (*model.Snapshot, string, error) {
	index, err := readDump(path, format, open.Watch{Progress: func(_, _, _ int64) bool { return ctx.Err() == nil }})
	if err != nil {
		return nil, "", cmp.Or(ctx.Err(), fmt.Errorf("%s: %w", path, err))
	}
	id := "file:" + path
	store := model.NewStore(model.DefaultOptions())
	store.Add(model.SourceInfo{ID: id, Kind: model.KindDump, Name: path, File: path})
	store.SetDump(id, index)
	status, why := dumpStatus(index.Dump)
	store.SetStatus(id, status, why)
	return store.Snapshot(recorder.MonotonicClock()(), time.Now().UnixNano()), id, nil
}
