package ui

import (
	"maps"
	"os"
	"slices"
	"testing"

	"vramscope/model"
	"vramscope/model/dump"
	"vramscope/recorder"
	"vramscope/recorder/torchsnap"
	"vramscope/ui/layout"
)

// readDump is one of the real dumps.
func readDump(t testing.TB, name string) *recorder.Dump {
	t.Helper()
	file, err := os.Open("../recorder/torchsnap/testdata/" + name + ".pickle.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read, err := torchsnap.Read(file, torchsnap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// snapshotOf is a snapshot with dumps as its files, in the order of their names.
func snapshotOf(dumps map[string]*dump.Index) *model.Snapshot {
	store := model.NewStore(model.Options{})
	for _, name := range slices.Sorted(maps.Keys(dumps)) {
		id := "file:" + name
		store.Add(model.SourceInfo{ID: id, Kind: model.KindDump, Name: name, File: name})
		store.SetDump(id, dumps[name])
		store.SetStatus(id, model.StatusComplete, "")
	}
	return store.Snapshot(1, fixtureWall)
}

// dumpSnapshot is a snapshot with one of the real dumps as its file.
func dumpSnapshot(t testing.TB, name string) *model.Snapshot {
	t.Helper()
	return snapshotOf(map[string]*dump.Index{name + ".pickle": dump.New(readDump(t, name))})
}

// dumpScreen is a screen on one of the real dumps.
func dumpScreen(t testing.TB, name string, view layout.View, width, height int) *Dashboard {
	t.Helper()
	return newScreen(t, dumpSnapshot(t, name), view, width, height)
}
