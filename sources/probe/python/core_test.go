package python_test

import (
	"os"
	"slices"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// waiting is a script that goes on until its input ends.
const waiting = `
import sys
import vramscope_probe
print("ready")
for line in sys.stdin:
    exec(line)
    print("done")
`

// A reader gets the hello, a state and samples, and not one line that it cannot
// read; the end says goodbye and takes the socket away.
func TestAReaderGetsHelloStateAndSamples(t *testing.T) {
	p := pythontest.Start(t, waiting)
	p.Line()
	path := p.Path()
	r := pythontest.Read(t, path, false)
	hello := pythontest.Next[*recorder.Hello](r)
	if hello.PID != p.PID() || hello.Src != r.ID() || hello.Name != "render.py" || hello.Kind != recorder.KindProcess ||
		hello.Ns == 0 || hello.Wall == 0 || hello.Hz != 10 || hello.Safe != "pending" || hello.Python == "" || hello.Start == 0 ||
		hello.Rank != nil || hello.Job != "" || !slices.Contains(hello.NSPIDs, p.PID()) || len(hello.Argv) != 3 {
		t.Errorf("the hello is %+v", hello)
	}
	state := pythontest.Next[*recorder.State](r)
	if state.Src != r.ID() || state.Recording || state.Frame != nil {
		t.Errorf("the state is %+v", state)
	}
	first := pythontest.Next[*recorder.Sample](r)
	second := pythontest.Next[*recorder.Sample](r)
	if second.Seq != first.Seq+1 || second.Ns <= first.Ns || first.Error != "" || first.Dropped != 0 {
		t.Errorf("two samples are %+v and %+v", first, second)
	}
	p.Quiet()
	if bye := pythontest.Next[*recorder.Bye](r); bye.Why != "the program ended" {
		t.Errorf("the goodbye is %q", bye.Why)
	}
	if err := r.End(); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
	if !pythontest.Missing(path) {
		t.Error("the socket is still there after the end")
	}
}

func TestTheSocketIsClosedToOthers(t *testing.T) {
	p := pythontest.Start(t, waiting)
	info, err := os.Lstat(p.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket's mode is %v (%v), want 0600", info.Mode(), err)
	}
	p.Quiet()
}
