package main

import (
	"context"
	"errors"
	"io"
	"time"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/recorder/open"
)

// load reads a recording to its end and returns everything it holds, and the
// ID that its sources share.
func (p *program) load(ctx context.Context, path string) (*model.Snapshot, string, error) {
	if err := readable(path); err != nil {
		return nil, "", err
	}
	opened, err := open.Open(path, open.Watch{})
	if err != nil {
		return nil, "", err
	}
	if opened.Dump != nil {
		return loadedDump(path, opened.Dump)
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

// loadedDump is a memory dump as a snapshot's only source.
func loadedDump(path string, read *recorder.Dump) (*model.Snapshot, string, error) {
	id := "file:" + path
	store := model.NewStore(model.DefaultOptions())
	store.Add(model.SourceInfo{ID: id, Name: path, File: path})
	store.SetDump(id, dump.New(read))
	status, why := dumpStatus(read)
	store.SetStatus(id, status, why)
	return store.Snapshot(recorder.MonotonicClock()(), time.Now().UnixNano()), id, nil
}

// dumpStatus says whether a dump is whole.
func dumpStatus(read *recorder.Dump) (model.Status, string) {
	if read.Truncated {
		return model.StatusCut, "the dump ends early: what was read of it is here"
	}
	return model.StatusComplete, ""
}
