package probe

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"vramscope/recorder"
)

// Whatever a file is called: a name that is read is written the same way.
func FuzzParseName(f *testing.F) {
	for _, seed := range []string{"48213-991234.sock", "1-1.sock", "01-1.sock", "-1.sock", "1-1.sock/", "\x00-1.sock", "9999999999-1.sock"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		if name, ok := ParseName(file); ok && (name.String() != filepath.Base(file) || name.PID <= 0) {
			t.Errorf("%q is read as %v", file, name)
		}
	})
}

func FuzzParseStat(f *testing.F) {
	own, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own)
	f.Add([]byte("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 991234 20"))
	f.Add([]byte("12 (x"))
	f.Add([]byte(")"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if state, _, err := parseStat(text); err == nil && state == 0 {
			t.Errorf("%q has no state and no error", text)
		}
	})
}

func TestStatOfACommandWithParentheses(t *testing.T) {
	state, start, err := parseStat([]byte("12 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 991234 20"))
	if state != 'S' || start != 991234 || err != nil {
		t.Errorf("state %c, start %d, %v", state, start, err)
	}
}

// Whatever a reader sends: the server goes on and answers the next one.
func FuzzServerInput(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}", `{"t":"hello","proto":1,"min":1,"want":["ev"]}` + "\n" + `{"t":"cmd","id":"1","cmd":"reclaim"}` + "\n",
		`{"t":"cmd","id":"1","cmd":"reclaim"}` + "\n", `{"t":"hello","proto":9,"min":9}` + "\n", "\x00\xff\n\n\n{{{{",
		`{"t":"hello","proto":1,"min":1}` + "\n" + `{"t":"want","ev":true}` + "\n" + `{"t":"cmd","id":"","cmd":"","ttl_ms":-9}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		server := serve(t, Options{}, &fakeRender{})
		conn := dialSilent(t, server.Path())
		_, _ = conn.Write(text)
		_ = conn.CloseWrite()
		server.Poll()
		if hello, err := Greet(context.Background(), server.Path()); err != nil || hello.Name != "test" {
			t.Errorf("after %q the next reader gets %v", text, err)
		}
		_ = server.Close("")
	})
}

// Whatever a program sends: the reader ends with an error in words.
func FuzzSourceInput(f *testing.F) {
	f.Add([]byte(""))
	f.Add([]byte("{\"t\":\"bye\",\"why\":\"no\"}\n"))
	f.Add([]byte("{\"t\":\"hello\",\"proto\":1,\"min\":1}\n{\"t\":\"s\",\"sets\":[{}]}\n{"))
	f.Add([]byte("\x1b[2J\n{\"t\":\"frame\"}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := hostile(t, text)
		var last recorder.Record
		err := NewSource(path).Run(context.Background(), func(record recorder.Record) { last = record })
		if err == nil && (last == nil || last.Type() != "bye") {
			t.Errorf("%q is an orderly end", text)
		}
	})
}
