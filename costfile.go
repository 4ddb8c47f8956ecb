package main

import (
	"fmt"
	"time"

	"vramscope/model"
	"vramscope/model/costs"
	"vramscope/recorder"
	"vramscope/recorder/open"
)

// loadCosts reads a calibration file as a snapshot's only source.
func loadCosts(path string, format *open.Format) (*model.Snapshot, string, error) {
	read, err := format.ReadCosts(path)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	store, id := model.NewStore(model.DefaultOptions()), "file:"+path
	store.Add(costsInfo(id, path))
	showCosts(store, id, costs.New(read))
	return store.Snapshot(recorder.MonotonicClock()(), time.Now().UnixNano()), id, nil
}

// openCosts adds a calibration file, to be read. One that could not be read is
// read again.
func (h *hub) openCosts(path string, format *open.Format) {
	id := "file:" + path
	h.mutex.Lock()
	h.costs[id] = true
	h.mutex.Unlock()
	h.tell(func(store *model.Store) { store.Add(costsInfo(id, path)) })
	h.spawn(func() {
		read, err := format.ReadCosts(path)
		if err != nil {
			h.tell(func(store *model.Store) { store.SetStatus(id, model.StatusFailed, err.Error()) })
			return
		}
		index := costs.New(read)
		h.tell(func(store *model.Store) {
			showCosts(store, id, index)
			h.publish(store.Snapshot(recorder.MonotonicClock()(), time.Now().UnixNano())) // not with the next tick
		})
	})
}

// closeCosts forgets a calibration file; it says whether there was one.
func (h *hub) closeCosts(id string) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !h.costs[id] {
		return false
	}
	delete(h.costs, id)
	h.tell(func(store *model.Store) { store.Remove(id) })
	return true
}

func costsInfo(id, path string) model.SourceInfo {
	return model.SourceInfo{ID: id, Kind: model.KindCosts, Name: path, File: path}
}

// showCosts gives a store what was read of a calibration file.
func showCosts(store *model.Store, id string, index *costs.Index) {
	store.SetProgress(id, model.Progress{Done: index.Costs.Bytes, Size: index.Costs.Bytes})
	store.SetCosts(id, index)
	store.SetStatus(id, model.StatusComplete, "")
}
