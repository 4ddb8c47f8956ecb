package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"vramscope/recorder"
)

// The test binary plays the demo's process, too.
const roleVariable = "VRAMSCOPE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		goleak.VerifyTestMain(m)
	case "demo":
		os.Exit(playDemo(Options{Speed: 100}))
	case "stubborn": // neither signals nor the end of its parent end it
		signal.Ignore(syscall.SIGTERM)
		Announce("/nowhere")
		select {}
	case "broken":
		fmt.Fprintln(os.Stderr, "the device is on fire")
		os.Exit(1)
	}
}

func playDemo(options Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := Serve(ctx, options, Surroundings{Parent: os.Stdin, Ready: Announce}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// recorded is what a demo records, as lines and read again.
func recorded(t *testing.T, options Options) ([]byte, []recorder.Record) {
	t.Helper()
	var lines []byte
	err := Record(context.Background(), options, func(r recorder.Record) (err error) {
		lines, err = recorder.AppendLine(lines, r)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, decoded(t, lines)
}

// decoded is lines read again.
func decoded(t *testing.T, lines []byte) []recorder.Record {
	t.Helper()
	decoder := recorder.NewDecoder(bytes.NewReader(lines))
	var records []recorder.Record
	for {
		r, err := decoder.Next()
		if err != nil {
			break
		}
		records = append(records, r)
	}
	if p := decoder.Problems(); p.BadLines+p.LongLines+p.Unknown > 0 || p.CutBytes > 0 {
		t.Fatalf("the records do not read: %+v", p)
	}
	return records
}

// all is the records of a kind.
func all[R recorder.Record](records []recorder.Record) []R {
	var wanted []R
	for _, record := range records {
		if r, ok := record.(R); ok {
			wanted = append(wanted, r)
		}
	}
	return wanted
}

// set is a counter set of a sample.
func set(sample *recorder.Sample, of string) *recorder.CounterSet {
	for i := range sample.Sets {
		if sample.Sets[i].Of == of {
			return &sample.Sets[i]
		}
	}
	return nil
}

func value(t *testing.T, set *recorder.CounterSet, counter recorder.Counter) int64 {
	t.Helper()
	n, known := set.Values.Get(counter)
	if !known {
		t.Fatalf("%s of %s is not known: %v", counter, set.ID, set.Why)
	}
	return n
}
