package file

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"vramscope/recorder"
)

// Whatever a file holds: reading ends, and what is not an orderly end is an
// error in words.
func FuzzFile(f *testing.F) {
	whole := lines(f, hello(), frame(1), bye())
	f.Add(whole)
	f.Add(whole[:len(whole)-3])
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0})
	f.Add([]byte("{\"t\":\"hello\",\"proto\":1,\"min\":1}\n{\"t\":\"bye\"}\n"))
	f.Add([]byte("\x1b]0;title\x07"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		records := 0
		err := (&Source{path: path}).Run(context.Background(), func(recorder.Record) { records++ })
		if err == nil && records < 2 || err != nil && err.Error() == "" {
			t.Errorf("%q: %d records, %v", text, records, err)
		}
	})
}
