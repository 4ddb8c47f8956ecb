package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"vramscope/recorder"
)

// hostile is the socket of a program that sends a text to whoever comes first,
// and closes.
func hostile(t *testing.T, text []byte) string {
	t.Helper()
	path := filepath.Join(socketDirectory(t), "1-1.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Write(text)
		_ = conn.(*net.UnixConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // until the reader hangs up
		_ = conn.Close()
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return path
}

func TestHostileProgramsEndInASentence(t *testing.T) {
	const hello = `{"t":"hello","src":"x","proto":1,"min":1}` + "\n"
	for _, c := range []struct {
		name, text string
		records    int
		want       any // target of errors.As
	}{
		{"says nothing", "", 0, new(*EndError)},
		{"says rubbish", "\x00\xff rubbish\n\n{{{\n", 0, new(*EndError)},
		{"begins with a sample", `{"t":"s","sets":[]}` + "\n", 0, new(*GreetingError)},
		{"refuses", `{"t":"bye","why":"not you"}` + "\n", 0, new(*GreetingError)},
		{"speaks a newer protocol", `{"t":"hello","proto":9,"min":9}` + "\n", 0, new(*recorder.ProtocolError)},
		{"breaks off", hello + `{"t":"frame","src":"x","n":`, 1, new(*EndError)},
		{"sends an endless line", hello + strings.Repeat("x", 8<<20) + "\n" + `{"t":"frame","src":"x","n":1}` + "\n", 2, new(*EndError)},
		{"sends what nobody knows", hello + `{"t":"magic","src":"x"}` + "\n" + `{"t":"frame","src":"x","n":1}` + "\n", 2, new(*EndError)},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := NewSource(hostile(t, []byte(c.text)))
			records := 0
			err := source.Run(context.Background(), func(recorder.Record) { records++ })
			if err == nil || !errors.As(err, c.want) {
				t.Errorf("it ended with %v, want %T", err, c.want)
			}
			if records != c.records {
				t.Errorf("%d records came, want %d", records, c.records)
			}
		})
	}
}
