package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"vramscope/model"
	"vramscope/recorder"
)

// TestRecordingBeginsWithTheProgram: the machine and its GPUs, which speak all the
// time, come after its first word.
func TestRecordingBeginsWithTheProgram(t *testing.T) {
	hello := func(src, kind string) *recorder.Hello {
		return &recorder.Hello{Head: recorder.Head{Src: src, Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: kind}
	}
	path := filepath.Join(t.TempDir(), "run.vscope")
	tape, _, err := newRecording(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	tape.beside(hello("host", recorder.KindHost))
	tape.beside(&recorder.Note{Head: recorder.Head{Src: "host", Ns: 2}, Level: "info", Text: "early"})
	tape.begin(hello("pid:7-1", recorder.KindProcess))
	tape.beside(&recorder.Note{Head: recorder.Head{Src: "host", Ns: 3}, Level: "info", Text: "late"})
	if err := tape.end("the test ends"); err != nil {
		t.Fatal(err)
	}
	report := reportOf(t, path)
	if len(report.Sources) != 2 || report.Sources[0].ID != "pid:7-1" || report.Sources[1].ID != "host" || len(report.Sources[1].Notes) != 1 || report.Sources[1].Notes[0].Text != "late" {
		t.Errorf("it holds %+v", report.Sources)
	}
}

// TestRecordingOnAFullDisk: what was written stays, and a file of which nothing
// could be written does not. The limit that plays the disk is a whole process's:
// it is one of its own, since this one has files to write for go test.
func TestRecordingOnAFullDisk(t *testing.T) {
	const limited = "VRAMSCOPE_TEST_LIMITED"
	if os.Getenv(limited) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestRecordingOnAFullDisk$")
		command.Env = append(os.Environ(), limited+"=1")
		if out, err := command.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("PASS")) {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	hello := &recorder.Hello{Head: recorder.Head{Src: "host", Ns: 1}, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindHost}
	for name, before := range map[string]bool{"nothing.vscope": false, "something.vscope": true} {
		path := filepath.Join(t.TempDir(), name)
		tape, _, err := newRecording(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if before {
			tape.write(hello)
			if err := tape.file.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		room := sizeOf(t, path)
		var limit unix.Rlimit
		if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
			t.Fatal(err)
		}
		if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(room), Max: limit.Max}, nil); err != nil {
			t.Fatal(err)
		}
		tape.write(hello)
		ended := tape.end("the test ends")
		if err := unix.Prlimit(0, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
			t.Fatal(err)
		}
		var failed *recorder.FileError
		if !errors.As(ended, &failed) {
			t.Errorf("%s: %v", name, ended)
		}
		if info, err := os.Stat(path); (err == nil) != before || err == nil && info.Size() != room {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// TestAPlaceForWhatAProgramWrites: beside the recordings, and none where the
// program's own folders may be others.
func TestAPlaceForWhatAProgramWrites(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	view := &model.SourceView{Hello: &recorder.Hello{PID: 48213, NSPIDs: []int{48213}}}
	path := placeByKey(view, recorder.CommandCalibration)
	if filepath.Dir(path) != directory || !strings.HasPrefix(filepath.Base(path), "vramscope-48213-") || filepath.Ext(path) != ".vscope" {
		t.Errorf("the place is %q", path)
	}
	view.Hello.NSPIDs = []int{48213, 7}
	if path := placeByKey(view, recorder.CommandCalibration); path != "" {
		t.Errorf("a program in a container is to write %q", path)
	}
}
