package python_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// standIn is a program with an adapter of its own, which says what the test
// wants. A line of input is carried out; the main thread counts on meanwhile.
const standIn = `
import os, sys, threading, time
import vramscope_probe as probe

class StandIn(probe.Adapter):
    name, module = "standin", "sys"
    reserved, width, raising, asked = 0, 0, None, 0
    parts = {}
    noted = []
    def sample(self, out):
        StandIn.asked += 1
        if self.raising:
            raise self.raising
        out.add("standin:0", "pool", "stand-in", "", "StandIn.sample", {"reserved": self.reserved, "allocated": None},
                why={"allocated": "nobody counts it"})
        for i in range(self.width):
            out.add("wide:%d" % i, "pool", "x" * 512, "", "StandIn.sample", {"reserved": i}, inside="standin:0")
    def state(self):
        return self.parts
    def drain(self, publish):
        while self.noted:
            publish(self.noted.pop(0))

standin = probe.register(StandIn())
assert probe.start(), probe.problem()
lines = []
def listen():
    for line in sys.stdin:
        lines.append(line)
    lines.append(None)
threading.Thread(target=listen, daemon=True).start()
server = probe.SESSION.service.server
count = 0
print("ready")
while True:
    count += 1
    if lines:
        line = lines.pop(0)
        if line is None:
            break
        exec(line)
        print("said")
    time.sleep(0.0005)
`

func startStandIn(t *testing.T, env ...string) *pythontest.Process {
	t.Helper()
	p := pythontest.Start(t, standIn, append([]string{"VRAMSCOPE_PROBE=0"}, env...)...)
	p.Line()
	return p
}

func TestASampleSaysWhatTheAdapterSays(t *testing.T) {
	p := startStandIn(t)
	say(p, "standin.reserved = 2 << 20")
	r := pythontest.Read(t, p.Path(), false)
	s := pythontest.NextWhere(r, func(s *recorder.Sample) bool { return len(s.Sets) == 2 && hasReserved(s.Sets[0], 2<<20) })
	set := s.Sets[0]
	if _, known := set.Values.Get(recorder.Allocated); known || set.Why["allocated"] != "nobody counts it" || set.Call != "StandIn.sample" {
		t.Errorf("the set is %+v", set)
	}
	p.Quiet()
}

// An adapter that raises in every sample is told of in every sample; the
// program notices nothing, and the other records go on.
func TestExceptionsAreCountedAndTold(t *testing.T) {
	for _, raised := range []string{"RuntimeError('torn\\x1b[2J\\n' + 'y' * 2000)", "SystemExit(3)", "KeyboardInterrupt()", "MemoryError()", "RecursionError()"} {
		t.Run(raised[:8], func(t *testing.T) {
			p := startStandIn(t)
			r := pythontest.Read(t, p.Path(), false)
			say(p, "standin.raising = "+raised)
			for range 3 {
				s := pythontest.NextWhere(r, func(s *recorder.Sample) bool { return s.Error != "" })
				kind, _, _ := strings.Cut(raised, "(")
				if !strings.HasPrefix(s.Error, "standin: "+kind) || len(s.Error) > 400 || strings.ContainsAny(s.Error, "\x1b\n") {
					t.Errorf("the sample says %q", s.Error)
				}
			}
			say(p, "assert probe.SESSION.service.sampler.mistakes >= 3; standin.raising = None")
			if s := pythontest.NextWhere(r, func(s *recorder.Sample) bool { return s.Error == "" }); len(s.Sets) != 2 {
				t.Errorf("afterwards a sample has %d sets", len(s.Sets))
			}
			p.Quiet()
		})
	}
}

// A late reader gets hello, what was sampled before, and a state, in this order.
func TestALateReaderGetsThePast(t *testing.T) {
	p := startStandIn(t)
	p.Until("a sample was published", func() bool { return say(p, "print(standin.asked > 1)") == "True" })
	say(p, "probe.poll(41); probe.poll(); StandIn.asked = 0")
	p.Until("some samples were taken", func() bool { return say(p, "print(standin.asked > 2)") == "True" })
	conn := pythontest.Dial(t, p.Path())
	if _, err := conn.Write([]byte(pythontest.Greeting)); err != nil {
		t.Fatal(err)
	}
	decoder := recorder.NewDecoder(conn)
	var kinds []string
	for len(kinds) == 0 || kinds[len(kinds)-1] != "state" {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, record.Type())
		switch r := record.(type) {
		case *recorder.Frame:
			if r.N != 41 && r.N != 42 {
				t.Errorf("frame %d", r.N)
			}
		case *recorder.State:
			if r.Frame == nil || *r.Frame != 42 {
				t.Errorf("the state's frame is %v", r.Frame)
			}
		}
	}
	got := strings.Join(kinds, " ")
	if !strings.HasPrefix(got, "hello s ") || strings.Count(got, "frame") != 2 || strings.Count(got, " s") < 3 {
		t.Errorf("a late reader gets %s", got)
	}
	pythontest.CheckDecoder(t, decoder)
	p.Quiet()
}

// Strings come before the state that uses their numbers, and events behind it;
// a reader that comes later gets the same strings.
func TestStringsComeBeforeTheStateThatUsesThem(t *testing.T) {
	p := startStandIn(t)
	say(p, "standin.noted.append({'t': 'str', 'first': 1, 's': ['render', 'trace']})")
	say(p, "standin.parts = {'arenas': [{'id': 1, 'name': 'a', 'len': 8, 'f': 0, 'r': 8, 'hw': 0, 'managed': True, 'buf': True, 'tree': {'up': [-1], 'name': [2], 'n': [1]}}]}")
	for range 2 {
		r := pythontest.Read(t, p.Path(), true)
		known := recorder.StringTable{}
		for complete := false; !complete; {
			record, open := r.NextRecord()
			if !open {
				t.Fatal(r.End())
			}
			switch record := record.(type) {
			case *recorder.Strings:
				if err := known.Add(record); err != nil {
					t.Fatal(err)
				}
			case *recorder.State:
				if len(record.Arenas) == 1 {
					if name := known.String(record.Arenas[0].Tree.Name[0]); name != "trace" {
						t.Errorf("the scope is called %q", name)
					}
					complete = true
				}
			}
		}
	}
	p.Quiet()
}

// A bare state that an adapter publishes asks for a whole one.
func TestAnAdapterCanAskForAState(t *testing.T) {
	p := startStandIn(t)
	r := pythontest.Read(t, p.Path(), false)
	pythontest.Next[*recorder.State](r)
	say(p, "standin.parts = {'dropped': 7}; standin.noted.append({'t': 'state'})")
	pythontest.NextWhere(r, func(s *recorder.State) bool { return s.Dropped == 7 })
	p.Quiet()
}

// What is wanted is armed, and what nobody wants any more is not.
func TestEventsGoToThoseWhoWantThem(t *testing.T) {
	p := startStandIn(t)
	armed := func(want string) func() bool {
		return func() bool { return say(p, "print(probe.OUTLET.armed)") == want }
	}
	batch := "standin.noted.append({'t': 'ev', 'ns': time.monotonic_ns(), 'arena': 1, 'dns': [0], 'op': [9]})"
	plain, eager := pythontest.Read(t, p.Path(), false), pythontest.Read(t, p.Path(), true)
	p.Until("the outlet is armed", armed("True"))
	pythontest.Next[*recorder.State](eager)
	say(p, batch)
	pythontest.Next[*recorder.ArenaEvents](eager)
	if err := eager.Want(false); err != nil {
		t.Fatal(err)
	}
	p.Until("the outlet is no longer armed", armed("False"))
	if err := plain.Want(true); err != nil {
		t.Fatal(err)
	}
	p.Until("the outlet is armed again", armed("True"))
	say(p, batch)
	for {
		record, open := plain.NextRecord()
		if !open {
			t.Fatal(plain.End())
		}
		if _, events := record.(*recorder.ArenaEvents); events {
			break
		}
	}
	plain.Close()
	p.Until("nobody wants events", armed("False"))
	p.Quiet()
}

// First words that are no greeting are answered with the reason; a reader of a
// newer protocol that still knows this one is welcome.
func TestFirstWords(t *testing.T) {
	p := startStandIn(t)
	for _, c := range []struct{ name, say, want string }{
		{"a newer minimum", `{"t":"hello","proto":9,"min":2}`, "this reader speaks format 2 and later, and this probe format 1: start the program with the probe of the same vramscope"},
		{"a newer reader", `{"t":"hello","proto":9,"min":1,"new":{"key":[1]}}`, ""},
		{"no hello", `{"t":"want","ev":true}`, "the first line must be a hello, not 'want'"},
		{"a command at once", `{"t":"cmd","id":"a","cmd":"reclaim"}`, "the first line must be a hello, not 'cmd'"},
		{"noise, then a hello", "GET / HTTP/1.1\r\n\r\n[1]\n{}\n{\"t\":7}\n" + strings.Repeat("[", 200_000) + "\n" + `{"t":"hello","proto":"1"}` + "\n" + `{"t":"hello","proto":1,"min":1}`, ""},
		{"too long a line, then a hello", `{"t":"` + strings.Repeat("x", 2<<20) + "\"}\n" + `{"t":"hello","proto":1}`, ""},
		{"a number without end", `{"t":"hello","proto":` + strings.Repeat("9", 1<<20-64) + "}\n" + `{"t":"hello","proto":1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn := pythontest.Dial(t, p.Path())
			if _, err := conn.Write([]byte(c.say + "\n")); err != nil {
				t.Fatal(err)
			}
			decoder := recorder.NewDecoder(conn)
			for {
				record, err := decoder.Next()
				if err != nil {
					t.Fatal(err)
				}
				bye, refused := record.(*recorder.Bye)
				if _, state := record.(*recorder.State); state || refused {
					if refused != (c.want != "") || refused && bye.Why != c.want {
						t.Errorf("the probe says %+v, want %q", record, c.want)
					}
					break
				}
			}
			pythontest.CheckDecoder(t, decoder)
		})
	}
	p.Quiet()
}

// What a reader sends that is no command of the format is answered or ignored,
// and nothing of it stops the probe.
func TestHostileCommands(t *testing.T) {
	p := startStandIn(t)
	conn := pythontest.Dial(t, p.Path())
	for _, line := range []string{
		pythontest.Greeting[:len(pythontest.Greeting)-1],
		`{"t":"cmd"}`, `{"t":"cmd","id":7,"cmd":"reclaim"}`, `{"t":"cmd","id":"a","cmd":["reclaim"]}`, `{"t":"cmd","id":"b","cmd":null,"args":7}`,
		`{"t":"cmd","id":"` + strings.Repeat("i", 500) + `","cmd":"reclaim"}`, `{"t":"cmd","id":"\ud800","cmd":"\ud800"}`,
		`{"t":"cmd","id":"c","cmd":"` + strings.Repeat("z", 1000) + `","args":{"path":{"a":[1]}},"ttl_ms":"x"}`, `{"t":"want","ev":"yes"}`, `{"t":"want"}`,
		`{"t":"hello","proto":1}`, `{"t":"s"}`, `{"t":"unheard"}`, `{"t":"cmd","id":"last","cmd":"no"}`,
	} {
		if _, err := conn.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	decoder := recorder.NewDecoder(conn)
	for last := false; !last; {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ack, ok := record.(*recorder.Ack); ok {
			if ack.State != "refused" && ack.State != "unsupported" {
				t.Errorf("the answer is %+v", ack)
			}
			last = ack.ID == "last"
		}
	}
	pythontest.CheckDecoder(t, decoder)
	p.Quiet()
}

// A reader that is stopped is closed after a while. Until then and afterwards
// the program counts on, and another reader gets its samples.
func TestAStoppedReaderChangesNothing(t *testing.T) {
	p := startStandIn(t)
	say(p, "standin.width = 400") // some 250 kB a sample: a few fill the kernel's buffer
	stopped := pythontest.Dial(t, p.Path())
	if _, err := stopped.Write([]byte(pythontest.Greeting)); err != nil {
		t.Fatal(err)
	}
	live := pythontest.Read(t, p.Path(), false)
	seq, counted := int64(0), 0
	next := func() {
		s := pythontest.NextWhere(live, func(s *recorder.Sample) bool { return len(s.Sets) > 400 })
		if seq != 0 && s.Seq != seq+1 {
			t.Errorf("sample %d follows %d", s.Seq, seq)
		}
		seq = s.Seq
		var count int
		if _, err := fmt.Sscan(say(p, "print(count)"), &count); err != nil || count <= counted {
			t.Fatalf("the program counted %d after %d (%v)", count, counted, err)
		}
		counted = count
	}
	p.Until("the stopped reader is closed", func() bool {
		next()
		return say(p, "print(server.stalled)") == "1"
	})
	next()
	for buffer := make([]byte, 1<<16); ; { // what the kernel had, then the end
		if _, err := stopped.Read(buffer); err != nil {
			break
		}
	}
	p.Quiet()
}

// A slow reader gets the newest sample, and learns how many it missed.
func TestASlowReaderGetsTheNewestSample(t *testing.T) {
	p := startStandIn(t)
	say(p, "standin.width = 400")
	conn := pythontest.Dial(t, p.Path())
	if _, err := conn.Write([]byte(pythontest.Greeting)); err != nil {
		t.Fatal(err)
	}
	p.Until("samples were replaced", func() bool {
		return say(p, "print(sum(r.dropped for r in server.readers.values()) > 2)") == "True"
	})
	decoder := recorder.NewDecoder(conn)
	for last := int64(0); ; {
		record, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := record.(*recorder.Sample); ok {
			if s.Dropped > 2 && s.Seq > last+2 {
				break
			}
			last = s.Seq
		}
	}
	pythontest.CheckDecoder(t, decoder)
	p.Quiet()
}

// More answers than a reader would ever leave unread close it.
func TestTooManyAnswersCloseTheReader(t *testing.T) {
	p := startStandIn(t)
	conn := pythontest.Dial(t, p.Path())
	if _, err := conn.Write([]byte(pythontest.Greeting)); err != nil {
		t.Fatal(err)
	}
	line := []byte(`{"t":"cmd","id":"` + strings.Repeat("i", 120) + `","cmd":"no"}` + "\n")
	for range 100_000 {
		if _, err := conn.Write(line); err != nil {
			p.Quiet()
			return
		}
	}
	t.Error("a reader that reads no answers was never closed")
}

// A reader that is killed leaves nothing behind.
func TestAKilledReaderIsForgotten(t *testing.T) {
	p := startStandIn(t)
	reader := exec.Command(pythontest.Interpreter(t), "-c", `
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b'{"t":"hello","proto":1,"want":["ev"]}\n')
while s.recv(1 << 16): pass`, p.Path())
	if err := reader.Start(); err != nil {
		t.Fatal(err)
	}
	p.Until("the reader is there", func() bool { return say(p, "print(server.watched)") == "1" })
	_ = reader.Process.Kill()
	_ = reader.Wait()
	p.Until("the reader is forgotten", func() bool { return say(p, "print(server.watched, probe.OUTLET.armed)") == "0 False" })
	p.Quiet()
}

// Another user's process is refused with the reason, even where the file
// system would let it in.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process as another user")
	}
	p := startStandIn(t)
	path := p.Path()
	for file, mode := range map[string]os.FileMode{p.Directory: 0o711, path: 0o666} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	client, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(client, "-test.run=^TestMain$")
	command.Env = []string{clientVariable + "=" + path}
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	binary, err := os.ReadFile(client) // the test binary's folder may be closed to others
	if err != nil {
		t.Fatal(err)
	}
	command.Path = p.Directory + "/client"
	if err := os.WriteFile(command.Path, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"t":"bye"`) || !strings.Contains(string(out), "runs as user 65534 and this one as user 0: run both as the same user") ||
		strings.Contains(string(out), `"t":"hello"`) {
		t.Errorf("another user is told %q (%v)", out, err)
	}
	p.Quiet()
}

const clientVariable = "VRAMSCOPE_TEST_CLIENT"

// TestMain lets the test binary play a reader that knocks and prints what it is
// told, as another user.
func TestMain(m *testing.M) {
	path := os.Getenv(clientVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	_ = conn.SetDeadline(time.Now().Add(pythontest.Patience))
	buffer := make([]byte, 4096)
	n, _ := conn.Read(buffer)
	fmt.Print(string(buffer[:n]))
	os.Exit(0)
}
