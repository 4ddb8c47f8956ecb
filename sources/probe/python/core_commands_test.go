package python_test

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// obeying is a program whose commands are what the tests say: perform notes
// what ran and on which thread. It works in bytecode until its input ends; a
// line of input is carried out by the main thread.
const obeying = `
import os, signal, sys, threading, time
import vramscope_probe as probe

done = []
def perform(command, args, report):
    done.append((command, threading.current_thread() is threading.main_thread()))
    if command == "rebuild":
        raise RuntimeError("the pool\x1b[31m is on fire\n" + "x" * 1000)
    if command == "snapshot":
        report.fail("the disk is full: free some of it")
        return [], []
    if command == "headroom":
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(60)
    report.acted = True
    report.line("empty the cache", before=2 << 20, after=1 << 20, freed=1 << 20, why="1 segment is split", took=7)
    before = [{"id": "pool:1", "of": "pool", "c": {"reserved": 2 << 20}}]
    return before, [{"id": "pool:1", "of": "pool", "c": {"reserved": 1 << 20}}]

probe.perform = perform
probe.capturing = lambda: ""
probe.offered = lambda: (["reclaim", "rebuild", "snapshot", "headroom", "record-on", "record-off"], {"reset-peak": "nothing counts peaks"})
assert probe.start()

lines, gate, inside = [], threading.Lock(), [0]
gate.acquire()
def announce():
    # Storing inside[0] and calling gate.acquire lie in one stretch of bytecode
    # without a safe point: who sees the one finds the main thread in the other.
    while not inside[0]:
        time.sleep(0.0005)
    print("in C")
def listen():
    for line in sys.stdin:
        if line == "open the gate\n":
            gate.release()
        else:
            lines.append(line)
    lines.append(None)
threading.Thread(target=listen, daemon=True).start()
print("ready")
polls, open = False, True
while open:
    try:
        if polls:
            probe.poll()
        if lines:
            line = lines.pop(0)
            if line is None:
                break
            exec(line)
            print("said")
        time.sleep(0.0005)
    except (KeyboardInterrupt, KeyError) as error:
        print("caught", type(error).__name__)
`

func startObeying(t *testing.T) (*pythontest.Process, *pythontest.Reader) {
	t.Helper()
	p := pythontest.Start(t, obeying, "VRAMSCOPE_PROBE=0")
	p.Line()
	r := pythontest.Read(t, p.Path(), false)
	pythontest.NextWhere(r, func(h *recorder.Hello) bool { return len(h.Commands) > 0 })
	return p, r
}

func say(p *pythontest.Process, line string) string {
	p.Say(line)
	answer := p.Line()
	if answer != "said" {
		p.Line()
	}
	return answer
}

func hasReserved(set recorder.CounterSet, want int64) bool {
	got, known := set.Values.Get(recorder.Reserved)
	return known && got == want
}

// Every way that a command can end, with the reason that the reader is told.
func TestACommandEndsInOneWay(t *testing.T) {
	p, r := startObeying(t)
	for _, c := range []struct {
		name, command string
		want          []string
		why           string
	}{
		{"carried out", "reclaim", []string{"accepted", "done"}, ""},
		{"raising", "rebuild", []string{"accepted", "failed"}, "RuntimeError: the pool [31m is on fire xxx"},
		{"failing", "snapshot", []string{"accepted", "failed"}, "the disk is full: free some of it"},
		{"refused by the libraries", "reset-peak", []string{"unsupported"}, "nothing counts peaks"},
		{"unknown", "explode", []string{"unsupported"}, "this program knows no command 'explode'"},
	} {
		r.Command(&recorder.Command{ID: c.name, Name: c.command})
		var why string
		for _, state := range c.want {
			ack := pythontest.Next[*recorder.Ack](r)
			if ack.ID != c.name || ack.Name != c.command || ack.State != state || ack.Ns == 0 || ack.Src != r.ID() {
				t.Fatalf("%s: the answer is %+v, want %s", c.name, ack, state)
			}
			if state == "accepted" && ack.Where != "between bytecodes" {
				t.Errorf("%s: accepted where = %q", c.name, ack.Where)
			}
			if state == "done" && (ack.Took <= 0 || len(ack.Result) != 1 || *ack.Result[0].Freed != 1<<20 || len(ack.Before) != 1 ||
				!hasReserved(ack.After[0], 1<<20) || ack.Acted == nil || !*ack.Acted) {
				t.Errorf("%s: the final answer is %+v", c.name, ack)
			}
			why = ack.Why
		}
		if !strings.HasPrefix(why, c.why) || len(why) > 400 || strings.ContainsAny(why, "\x1b\n") {
			t.Errorf("%s: why = %q, want %q", c.name, why, c.why)
		}
	}
	say(p, "assert done == [('reclaim', True), ('rebuild', True), ('snapshot', True)], done")
	p.Quiet()
}

func TestARepeatedCommandRunsOnce(t *testing.T) {
	p, r := startObeying(t)
	first := r.Do("a", recorder.CommandReclaim, recorder.CommandArgs{})
	again := r.Do("a", recorder.CommandReclaim, recorder.CommandArgs{})
	other := pythontest.Read(t, p.Path(), false)
	pythontest.Next[*recorder.Hello](other)
	third := other.Do("a", recorder.CommandRebuild, recorder.CommandArgs{})
	for _, ack := range []*recorder.Ack{again, third} {
		if ack.State != "done" || ack.Ns != first.Ns || ack.Took != first.Took || ack.Name != first.Name {
			t.Errorf("a repeated id is answered with %+v, want the stored %+v", ack, first)
		}
	}
	say(p, "assert len(done) == 1, done")
	p.Quiet()
}

// While the main thread is in a long call into C nothing runs; the command's
// time passes, it expires once, and is not carried out afterwards. Meanwhile
// another command is told that this one is under way.
func TestACommandExpiresDuringALongCall(t *testing.T) {
	p, r := startObeying(t)
	p.Say("threading.Thread(target=announce).start(); inside[0] = 1; gate.acquire()")
	p.Line()
	r.Command(&recorder.Command{ID: "late", Name: recorder.CommandReclaim, TTL: 300})
	r.Command(&recorder.Command{ID: "second", Name: recorder.CommandReclaim})
	for _, want := range []struct{ id, state, why string }{
		{"late", "accepted", ""},
		{"second", "busy", "reclaim is under way: ask again when it is done"},
		{"late", "expired", "the main thread did not come back from a long call in time, so nothing was done: "},
	} {
		if ack := pythontest.Next[*recorder.Ack](r); ack.ID != want.id || ack.State != want.state || !strings.HasPrefix(ack.Why, want.why) {
			t.Fatalf("the answer is %+v, want %+v", ack, want)
		}
	}
	p.Say("open the gate")
	p.Line()
	if again := r.Do("third", recorder.CommandReclaim, recorder.CommandArgs{}); again.State != "done" {
		t.Errorf("after the long call a command ends as %s (%s)", again.State, again.Why)
	}
	say(p, "assert len(done) == 1, done")
	p.Quiet()
}

// A render that calls poll gets its commands there and nowhere else.
func TestAPollingRenderIsAskedAtTheFrameBoundary(t *testing.T) {
	p, r := startObeying(t)
	say(p, "probe.poll()")
	hello := pythontest.NextWhere(r, func(h *recorder.Hello) bool { return h.Safe == "poll" })
	if len(hello.Commands) == 0 {
		t.Errorf("the new hello is %+v", hello)
	}
	r.Command(&recorder.Command{ID: "a", Name: recorder.CommandReclaim})
	if ack := pythontest.Next[*recorder.Ack](r); ack.State != "accepted" || ack.Where != "frame boundary" {
		t.Fatalf("the answer is %+v", ack)
	}
	say(p, "assert done == [], done") // bytecode runs, and no frame ends
	say(p, "threading.Thread(target=probe.poll).start()")
	say(p, "assert done == [], done") // a frame of another thread is none of the main thread's
	say(p, "probe.poll()")
	if ack := pythontest.Next[*recorder.Ack](r); ack.State != "done" {
		t.Fatalf("the answer is %+v, want done", ack)
	}
	r.Command(&recorder.Command{ID: "b", Name: recorder.CommandReclaim, TTL: 50})
	pythontest.Next[*recorder.Ack](r)
	if ack := pythontest.Next[*recorder.Ack](r); ack.State != "expired" || !strings.Contains(ack.Why, "frame boundary") {
		t.Fatalf("the answer is %+v, want expired", ack)
	}
	say(p, "probe.poll(); assert len(done) == 1, done")
	p.Quiet()
}

// A signal in the middle of a command is the program's: it is neither lost nor
// printed, and the command has its one end.
func TestASignalDuringACommandReachesTheProgram(t *testing.T) {
	const own = "exec('def alarm(*_): raise KeyError\\nsignal.signal(signal.SIGUSR1, alarm)')"
	const interrupt = "signal.signal(signal.SIGUSR1, signal.default_int_handler)"
	for _, c := range []struct {
		name, handler string
		poll          bool
		caught        string
	}{
		{"interrupt, between bytecodes", interrupt, false, "caught KeyboardInterrupt"},
		{"interrupt, at the frame boundary", interrupt, true, "caught KeyboardInterrupt"},
		{"exception of its own, between bytecodes", own, false, "caught KeyError"},
		{"exception of its own, at the frame boundary", own, true, "caught KeyError"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, r := startObeying(t)
			say(p, c.handler)
			if c.poll {
				say(p, "polls = True")
			}
			r.Command(&recorder.Command{ID: "a", Name: recorder.CommandHeadroom})
			if line := p.Line(); line != c.caught {
				t.Errorf("the program printed %q, want %q", line, c.caught)
			}
			ack := pythontest.NextWhere(r, func(ack *recorder.Ack) bool { return ack.State != "accepted" })
			if ack.State != "failed" || !strings.Contains(ack.Why, "interrupted") {
				t.Errorf("the answer is %+v", ack)
			}
			if next := r.Do("b", recorder.CommandReclaim, recorder.CommandArgs{}); next.State != "done" {
				t.Errorf("the next command ends as %s (%s)", next.State, next.Why)
			}
			p.Quiet()
		})
	}
}

func TestNothingTouchesADeviceDuringCapture(t *testing.T) {
	p, r := startObeying(t)
	say(p, "probe.capturing = lambda: 'torch captures a CUDA graph: ask again when it is done'")
	ack := r.Do("a", recorder.CommandReclaim, recorder.CommandArgs{})
	if ack.State != "failed" || !strings.HasPrefix(ack.Why, "torch captures a CUDA graph") || ack.Acted == nil || *ack.Acted {
		t.Errorf("the answer is %+v", ack)
	}
	if ack := r.Do("b", recorder.CommandRecordOn, recorder.CommandArgs{}); ack.State != "done" {
		t.Errorf("what touches no device ends as %s (%s)", ack.State, ack.Why)
	}
	say(p, "assert [c for c, _ in done] == ['record-on'], done")
	p.Quiet()
}

// Recording arms the outlet, a state says so, and both end with it.
func TestRecordingArmsTheOutlet(t *testing.T) {
	p, r := startObeying(t)
	say(p, "assert not probe.OUTLET.armed")
	r.Do("on", recorder.CommandRecordOn, recorder.CommandArgs{})
	pythontest.NextWhere(r, func(s *recorder.State) bool { return s.Recording })
	p.Until("the outlet is armed", func() bool { return say(p, "print(probe.OUTLET.armed)") == "True" })
	r.Do("off", recorder.CommandRecordOff, recorder.CommandArgs{})
	pythontest.NextWhere(r, func(s *recorder.State) bool { return !s.Recording })
	p.Until("the outlet is no longer armed", func() bool { return say(p, "print(probe.OUTLET.armed)") == "False" })
	p.Quiet()
}

func TestAProgramThatEndsAnswersWhatItDidNotDo(t *testing.T) {
	p, r := startObeying(t)
	say(p, "probe.poll()") // from now on only a frame boundary will do
	r.Command(&recorder.Command{ID: "a", Name: recorder.CommandReclaim})
	pythontest.Next[*recorder.Ack](r)
	p.CloseInput()
	if ack := pythontest.Next[*recorder.Ack](r); ack.State != "failed" || ack.Why != "the program ends, so nothing was done" {
		t.Errorf("the answer is %+v", ack)
	}
	pythontest.Next[*recorder.Bye](r)
	p.Quiet()
}

// The other readers see which command was given and how it ended, and a late
// one sees it too.
func TestOtherReadersSeeTheCommandAndItsEnd(t *testing.T) {
	p, r := startObeying(t)
	other := pythontest.Read(t, p.Path(), false)
	pythontest.Next[*recorder.State](other)
	r.Do("a", recorder.CommandReclaim, recorder.CommandArgs{Device: "GPU-1"})
	late := pythontest.Read(t, p.Path(), false)
	for _, reader := range []*pythontest.Reader{other, late} {
		if command := pythontest.Next[*recorder.Command](reader); command.ID != "a" || command.Src != r.ID() || command.Args.Device != "GPU-1" {
			t.Errorf("another reader sees %+v", command)
		}
		if ack := pythontest.Next[*recorder.Ack](reader); ack.ID != "a" || ack.State != "done" {
			t.Errorf("another reader sees %+v", ack)
		}
	}
	p.Quiet()
}

// A render whose frames are quick has left something new whenever the probe's
// thread looks: readers get their state all the same.
func TestReadersOfAQuickRenderGetTheirState(t *testing.T) {
	p := pythontest.Start(t, `
import sys, threading
import vramscope_probe as probe
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
print("ready")
while not ended.is_set():
    probe.poll()
`)
	p.Line()
	for range 5 {
		r := pythontest.Read(t, p.Path(), true)
		pythontest.Next[*recorder.State](r)
		r.Close()
	}
	p.CloseInput()
	if code := p.Wait(); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}
