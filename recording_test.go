package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"vramscope/recorder"
)

// TestRecordingOnAFullDisk: what was written stays, and a file of which nothing
// could be written does not.
func TestRecordingOnAFullDisk(t *testing.T) {
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
