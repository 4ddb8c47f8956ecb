package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vramscope/model"
	"vramscope/recorder"
	"vramscope/sources/probe"
)

// busyProgram is a program that lets vramscope in and answers the callers from a
// certain one on, and those that waited until then: as one that compiles. It is
// this process, so that it lives.
type busyProgram struct {
	t        *testing.T
	name     probe.Name
	listener net.Listener
	answers  int  // number of the caller, from 1, at which it speaks; 0 never
	until    int  // number of the last caller that it speaks to; 0 is any
	deaf     bool // it says hello, and is busy from then on

	mutex   sync.Mutex
	callers int
	waiting []net.Conn
	held    []net.Conn // every caller's
	called  chan int   // has the number of each caller
}

func newBusyProgram(t *testing.T, environment []string, answers, until int) *busyProgram {
	t.Helper()
	return startBusyProgram(t, environment, &busyProgram{answers: answers, until: until})
}

func startBusyProgram(t *testing.T, environment []string, b *busyProgram) *busyProgram {
	t.Helper()
	name, err := probe.OwnName()
	if err != nil {
		t.Fatal(err)
	}
	directory := ""
	for _, variable := range environment {
		if value, ok := strings.CutPrefix(variable, probe.DirectoryVariable+"="); ok {
			directory = value
		}
	}
	listener, err := net.Listen("unix", filepath.Join(directory, name.String()))
	if err != nil {
		t.Fatal(err)
	}
	b.t, b.name, b.listener, b.called = t, name, listener, make(chan int, 100)
	t.Cleanup(func() {
		_ = listener.Close()
		b.mutex.Lock()
		defer b.mutex.Unlock()
		for _, conn := range b.held {
			_ = conn.Close()
		}
	})
	go b.accept()
	return b
}

func (b *busyProgram) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.mutex.Lock()
		b.callers++
		b.held = append(b.held, conn)
		if b.until == 0 || b.callers <= b.until {
			b.waiting = append(b.waiting, conn)
		}
		if b.answers > 0 && b.callers >= b.answers {
			for _, waiting := range b.waiting {
				go b.speak(waiting)
			}
			b.waiting = nil
		}
		b.called <- b.callers
		b.mutex.Unlock()
	}
}

// speak is a program without memory, which does what it is told at once.
func (b *busyProgram) speak(conn net.Conn) {
	head := recorder.Head{Src: b.name.ID(), Ns: recorder.MonotonicClock()()}
	tell := func(record recorder.Record) {
		if line, err := recorder.AppendLine(nil, record); err == nil {
			_, _ = conn.Write(line)
		}
	}
	tell(&recorder.Hello{Head: head, Proto: recorder.Protocol, Min: recorder.MinimumProtocol, Kind: recorder.KindProcess, Name: "compiles.py",
		PID: b.name.PID, Start: b.name.Start, Commands: []string{recorder.CommandHeadroom}})
	tell(&recorder.State{Head: head})
	decoder := recorder.NewDecoder(conn)
	for {
		record, err := decoder.Next()
		if err != nil {
			return
		}
		if command, ok := record.(*recorder.Command); ok && !b.deaf {
			tell(&recorder.Ack{Head: head, ID: command.ID, Name: command.Name, State: recorder.AckDone})
		}
	}
}

// ownName is what this process is called by its command line.
func ownName() string { return filepath.Base(os.Args[0]) }

// TestABusyProgramIsWaitedFor, by the name of its command line, which is said.
// The watcher calls at once, and again when others have looked for three seconds;
// between them calls who waits.
func TestABusyProgramIsWaitedFor(t *testing.T) {
	environment := testEnvironment(t)
	newBusyProgram(t, environment, 3, 0)
	out, problems, code := runIn(t, environment, "send", ownName(), recorder.CommandHeadroom)
	if code != exitFine || !strings.Contains(out, "headroom check") || !strings.Contains(problems, "is busy and does not answer yet: waiting up to 30s") {
		t.Errorf("ends with %d: %s%s", code, out, problems)
	}
}

// TestABusyProgramIsTold of wherever programs are listed.
func TestABusyProgramIsTold(t *testing.T) {
	environment := testEnvironment(t)
	newBusyProgram(t, environment, 0, 0)
	for _, arguments := range [][]string{{"doctor"}, nil} {
		out, problems, _ := runIn(t, environment, arguments...)
		if !strings.Contains(out+problems, ownName()) || !strings.Contains(out+problems, "does not answer yet: it is busy in one long call") {
			t.Errorf("%v says %s%s", arguments, out, problems)
		}
		if strings.Contains(out+problems, "no program with a probe") {
			t.Errorf("%v says there is none: %s%s", arguments, out, problems)
		}
	}
}

// TestABusyProgramOnTheScreen stands in the list of sources, with what it is
// waited for, and its view says so.
func TestABusyProgramOnTheScreen(t *testing.T) {
	environment := testEnvironment(t)
	newBusyProgram(t, environment, 0, 0)
	term := startTerminal(t, 120, 32, environment)
	term.waitForText("Nothing is known yet: process")
	term.send("c")
	term.waitForText("connecting: process")
}

// TestARecordingOfNothing: a program that spoke, and does not answer when it is
// to be recorded, leaves a file without it, which is said.
func TestARecordingOfNothing(t *testing.T) {
	environment := testEnvironment(t)
	busy := newBusyProgram(t, environment, 1, 2) // the watcher, and the connection that is shown
	path := filepath.Join(t.TempDir(), "run.vscope")
	command := exec.Command(binary(t), "record", "-o", path, "compiles.py")
	var problems bytes.Buffer
	command.Env, command.Stderr = environment, &problems
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	for number := range busy.called {
		if number == 3 { // the connection that is recorded
			break
		}
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait()
	if code := command.ProcessState.ExitCode(); code != exitFailed || !strings.Contains(problems.String(), "nothing of compiles.py is in "+path) {
		t.Errorf("ends with %d: %s", code, problems.String())
	}
}

// TestSilenceIsNoOtherFailure: it is tried again, everything else that is wrong
// with a greeting is not.
func TestSilenceIsNoOtherFailure(t *testing.T) {
	if !isSilent(&probe.GreetingError{Silent: true}) || isSilent(&probe.GreetingError{Why: "no hello"}) || isSilent(errors.New("broken")) || isSilent(nil) {
		t.Error("what is silence is told wrongly")
	}
	if _, _, again := verdict(&probe.GreetingError{ID: "pid:1-1", Why: "said nothing", Silent: true}); !again {
		t.Error("a busy program is not called again")
	}
}

// TestABusyProgramIsGivenUpInTime: a command waits no longer for its program than
// it was told to, whether that says nothing at all or nothing more.
func TestABusyProgramIsGivenUpInTime(t *testing.T) {
	for _, c := range []struct {
		program *busyProgram
		name    string
		says    []string
	}{
		{&busyProgram{}, ownName(), []string{"is busy and does not answer yet: waiting up to 1.5s", "no answer in 1.5s"}},
		{&busyProgram{answers: 1, deaf: true}, "compiles.py", []string{"waiting up to 1.5s for compiles.py", "no answer came within 1.5s"}},
	} {
		environment := testEnvironment(t)
		startBusyProgram(t, environment, c.program)
		_, problems, code := runIn(t, environment, "send", "--wait", "1500ms", c.name, recorder.CommandHeadroom)
		for _, says := range c.says {
			if code != exitFailed || !strings.Contains(problems, says) {
				t.Errorf("ends with %d, says %q and not %q", code, problems, says)
			}
		}
	}
}

// TestTheWaitForAHelloBeganEarlier: what a look for a program has taken is part of
// the wait for it.
func TestTheWaitForAHelloBeganEarlier(t *testing.T) {
	name, err := probe.OwnName()
	if err != nil {
		t.Fatal(err)
	}
	settings := defaultSettings()
	h := newHub(t.Context(), &settings)
	defer h.close()
	var problems bytes.Buffer
	p := &program{settings: settings, problems: &problems}
	wait := 100 * time.Hour
	_, err = p.heard(t.Context(), h, &model.SourceView{ID: name.ID(), Source: name.ID(), Name: "compiles.py"}, wait, time.Now().Add(-wait))
	if err == nil || !strings.Contains(err.Error(), "no answer in 100h") {
		t.Errorf("says %v", err)
	}
}
