package python_test

import (
	"strings"
	"testing"
	"time"

	"vramscope/recorder"
	"vramscope/sources/probe/python/pythontest"
)

// closing is a program that closes every descriptor without a fork, as
// daemons do, and opens files, pipes and sockets of its own on the numbers.
// Argument: how it closes them.
const closing = `
import os, random, select, socket, sys, tempfile
began = set(os.listdir("/proc/self/fd"))
import vramscope_probe

random.seed(7)
HIGHEST = 1024

def numbers():
    return [int(name) for name in os.listdir("/proc/self/fd") if int(name) > 2]

def close_all():
    way = sys.argv[1]
    if way == "closerange":
        os.closerange(3, HIGHEST)
    elif way == "close":
        for number in range(3, HIGHEST):
            try:
                os.close(number)
            except OSError:
                pass
    elif way == "random":
        for number in numbers():
            if random.random() < 0.5:
                try:
                    os.close(number)
                except OSError:
                    pass
    held.clear()

class Held:
    """Files on which the program alone may act, and what is in them."""

    def __init__(self):
        self.files, self.pairs = {}, []

    def clear(self):
        self.files, self.pairs = {}, []

    def take(self, targets):
        file = os.open(os.path.join(directory, "file"), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        read, write = os.pipe()
        one, two = (s.detach() for s in socket.socketpair())
        for place, number in enumerate(targets):  # onto the very numbers that the probe had
            os.dup2((file, write, one)[place % 3], number)
        self.pairs = [(read, write), (one, two)]
        self.files = {number: os.fstat(number)[1:3] for number in [file, read, write, one, two] + list(targets)}
        self.file = file

    def check(self):
        for number, identity in self.files.items():
            try:
                now = os.fstat(number)[1:3]
            except OSError as error:
                return "%d was closed: %s" % (number, error)
            if now != identity:
                return "%d is another file" % number
        readable = select.select([self.pairs[0][0], self.pairs[1][0], self.pairs[1][1]], [], [], 0)[0]
        if readable:
            return "in %s is what the program did not write: %r" % (readable, os.read(readable[0], 200))
        if os.fstat(self.file).st_size:
            return "the file has what the program did not write"
        return ""

directory = tempfile.mkdtemp()
held = Held()
print("ready")
for line in sys.stdin:
    words = line.split()
    if words[0] == "numbers":
        print(sorted(int(name) for name in set(os.listdir("/proc/self/fd")) - began))
    elif words[0] == "close":
        before = numbers()
        close_all()
        held.take([number for number in before if number >= 100] if len(words) > 1 else [])
        print("closed")
    elif words[0] == "check":
        print(held.check() or "untouched")
`

// The program's own files on the numbers that the probe had are not touched,
// and a reader finds the program again.
func TestTheProgramsOwnFilesAreNotTouched(t *testing.T) {
	for _, c := range []struct{ way, onto string }{{"closerange", ""}, {"closerange", "onto"}, {"close", "onto"}, {"random", ""}, {"dup2", "onto"}} {
		t.Run(c.way+" "+c.onto, func(t *testing.T) {
			p := pythontest.StartWith(t, closing, pythontest.Options{Arguments: []string{c.way}})
			p.Line()
			path := p.Path()
			rounds := 2
			if c.way == "random" {
				rounds = 8
			}
			for range rounds {
				r := pythontest.Read(t, path, true)
				pythontest.Next[*recorder.Hello](r)
				pythontest.Next[*recorder.Sample](r)
				p.Say("close " + c.onto)
				if line := p.Line(); line != "closed" {
					t.Fatalf("the program says %q: %s", line, p.Stderr())
				}
				watchedAgain(t, path)
				p.Say("check")
				if line := p.Line(); line != "untouched" {
					t.Fatalf("the program's own files: %s", line)
				}
			}
			p.Quiet()
			if !pythontest.Missing(path) {
				t.Error("the socket is still there after the end")
			}
		})
	}
}

// The probe's numbers are high ones, where the program's own files do not come
// by themselves.
func TestTheProbesNumbersAreHigh(t *testing.T) {
	p := pythontest.StartWith(t, closing, pythontest.Options{Arguments: []string{"closerange"}})
	p.Line()
	r := pythontest.Read(t, p.Path(), true)
	pythontest.Next[*recorder.Sample](r)
	p.Say("numbers")
	line := p.Line()
	numbers := strings.Split(strings.Trim(line, "[]"), ", ")
	if len(numbers) != 4 { // the listener, the alarm's two ends, the reader
		t.Errorf("the process has %s beside the standard streams, want 4 numbers", line)
	}
	for _, number := range numbers {
		if len(number) < 3 {
			t.Errorf("the probe has number %s, want one from 600 on", number)
		}
	}
	p.Quiet()
}

// watchedAgain returns once a reader gets samples from a socket that may be
// made anew at this moment.
func watchedAgain(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(pythontest.Patience); time.Now().Before(deadline); {
		r := pythontest.Read(t, path, true)
		for samples := 0; samples < 3; {
			record, open := r.NextRecord()
			if !open {
				break
			}
			if _, ok := record.(*recorder.Sample); ok {
				samples++
			}
			if samples == 3 {
				return
			}
		}
	}
	t.Fatalf("no reader gets samples any more: %v", path)
}
