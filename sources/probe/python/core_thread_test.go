package python_test

import (
	"strings"
	"testing"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// looking is a program that looks for what is new in it since the probe
// started.
const looking = `
import gc, os, signal, sys, threading, time, warnings
traced = []
threading.settrace(lambda *event: traced.append(event[0].f_code.co_filename))
threading.setprofile(lambda *event: traced.append(event[0].f_code.co_filename))
filters, hooks, collectors = list(warnings.filters), (sys.excepthook, sys.unraisablehook, threading.excepthook), list(gc.callbacks)
wakeup, handlers = signal.set_wakeup_fd(-1), {number: signal.getsignal(number) for number in signal.valid_signals()}
import torch

def seen():
    found = []
    if threading.active_count() != 1 or threading.enumerate() != [threading.main_thread()]:
        found.append("threads %s" % threading.enumerate())
    if traced:
        found.append("traced %s" % set(traced))
    if warnings.filters != filters or gc.callbacks != collectors or signal.set_wakeup_fd(-1) != wakeup:
        found.append("filters, collectors or the wakeup of signals")
    if (sys.excepthook, sys.unraisablehook, threading.excepthook) != hooks or sys.gettrace() or sys.getprofile():
        found.append("hooks")
    if {number: signal.getsignal(number) for number in signal.valid_signals()} != handlers:
        found.append("signals")
    return "; ".join(found) or "nothing"

print(seen())
for line in sys.stdin:
    exec(line)
    print(seen())
`

// No thread of the probe stands among those of the program, neither while the
// library loads nor while readers watch, give commands, or a child is forked.
func TestTheProgramSeesNoThreadOfTheProbe(t *testing.T) {
	p := launched(t, looking, map[string]string{"torch": "loaded = True\n"})
	if line := p.Line(); line != "nothing" {
		t.Errorf("while the probe starts the program sees %s", line)
	}
	r := pythontest.Read(t, p.Path(), true)
	pythontest.Next[*recorder.State](r)
	pythontest.Next[*recorder.Sample](r)
	for _, statement := range []string{
		"pass",
		"import vramscope_probe as probe; probe.arena('arena', length=1024, pointers=lambda: (0, 1024)); probe.poll()",
		"exec('with probe.scope(\"work\"): time.sleep(0.3)')",
		"pid = os.fork(); pid or (time.sleep(0.2), os._exit(seen() != 'nothing')); assert os.waitpid(pid, 0)[1] == 0",
		"probe.stop()",
		"probe.start()",
	} {
		p.Say(statement)
		if line := p.Line(); line != "nothing" {
			t.Errorf("after %q the program sees %s", statement, line)
		}
	}
	p.Quiet()
}

// Scopes in a thread that the program started without the threading module
// enter it nowhere.
func TestAThreadWithoutANameIsNotEntered(t *testing.T) {
	p := launched(t, looking, map[string]string{"torch": "loaded = True\n"})
	p.Line()
	r := pythontest.Read(t, p.Path(), true)
	pythontest.Next[*recorder.State](r)
	p.Say("import vramscope_probe as probe, _thread; held = _thread.allocate_lock(); held.acquire()")
	p.Line()
	p.Say("exec('def work():\\n with probe.scope(\"in it\"): pass\\n held.release()'); _thread.start_new_thread(work, ()); held.acquire()")
	if line := p.Line(); line != "nothing" {
		t.Errorf("the program sees %s", line)
	}
	state := pythontest.NextWhere(r, func(state *recorder.State) bool { return len(state.Arenas) > 0 })
	if !strings.HasPrefix(state.Arenas[0].Name, "scopes of thread ") {
		t.Errorf("the thread's scopes are called %q", state.Arenas[0].Name)
	}
	p.Quiet()
}

// A signal that the program keeps blocked to wait for it does not end the
// program through the probe's thread.
func TestABlockedSignalIsThePrograms(t *testing.T) {
	p := launched(t, `
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})
import torch
print("ready")
for line in sys.stdin:
    os.kill(os.getpid(), signal.SIGTERM)
    print(signal.sigwait({signal.SIGTERM}).name)
`, map[string]string{"torch": "loaded = True\n"})
	p.Line()
	pythontest.Next[*recorder.Sample](pythontest.Read(t, p.Path(), false))
	p.Say("send")
	if line := p.Line(); line != "SIGTERM" {
		t.Errorf("the program got %q", line)
	}
	p.Quiet()
	late := launched(t, `
import os, signal, sys
import torch
print("ready")
for line in sys.stdin:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    os.kill(os.getpid(), signal.SIGTERM)
    print(signal.sigwait({signal.SIGTERM}).name)
`, map[string]string{"torch": "loaded = True\n"})
	late.Line()
	pythontest.Next[*recorder.Sample](pythontest.Read(t, late.Path(), false))
	late.Say("send")
	if line := late.Line(); line != "SIGTERM" {
		t.Errorf("the program got %q", line)
	}
	late.Quiet()
}

// The end of every interpreter that is here is quiet: with the thread asked to
// end, with one that cannot be, and with one that fails.
func TestTheThreadEndsQuietlyInEveryPython(t *testing.T) {
	for _, interpreter := range interpreters(t) {
		t.Run(interpreter, func(t *testing.T) {
			for _, end := range []string{"", "sys.exit(0)", "atexit.unregister(probe.SESSION._at_exit)", "os._exit(0)",
				"probe.SESSION.service._turn = None; probe.SESSION.service.sampler = None"} {
				p := pythontest.StartWith(t, "import atexit, os, sys, threading\nimport vramscope_probe as probe\nprint(threading.active_count())\nsys.stdin.read()\n"+end+"\n",
					pythontest.Options{Interpreter: interpreter})
				if line := p.Line(); line != "1" {
					t.Errorf("there are %s threads", line)
				}
				pythontest.Next[*recorder.Sample](pythontest.Read(t, p.Path(), true))
				p.Quiet()
			}
		})
	}
}
