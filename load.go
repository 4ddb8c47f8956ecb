package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/recorder/open"
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
		if ctx.Err() != nil {
			return nil, "", ctx.Err()
		}
	}
	problems := reader.Problems()
	if problems.CutBytes > 0 && status == model.StatusComplete {
		status, why = model.StatusCut, "the file ends in the middle of a record: it was read up to the last whole one"
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
