package recorder

import (
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vramscope/arena"
	"vramscope/pool"
)

func formatPage(t interface{ Fatal(...any) }) string {
	page, err := os.ReadFile("FORMAT.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// formatExamples is the lines of the page that are records.
func formatExamples(t interface{ Fatal(...any) }) []string {
	var examples []string
	inside := false
	for line := range strings.Lines(formatPage(t)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```json"
		case inside:
			examples = append(examples, line)
		}
	}
	return examples
}

func TestFormatExamples(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, example := range formatExamples(t) {
		record, err := DecodeLine([]byte(example))
		if err != nil {
			t.Errorf("%s\n%v", example, err)
			continue
		}
		seen[reflect.TypeOf(record)] = true
		if written := mustLine(t, record); written != example+"\n" {
			t.Errorf("the page says\n%s\nand it is written\n%s", example, written)
		}
	}
	for _, record := range append(recordTypes(), &ArenaEvents{}, &PoolEvents{}) {
		if !seen[reflect.TypeOf(record)] {
			t.Errorf("no example of a %T", record)
		}
	}
}

// Every key of the examples' Go types is explained, and has an example.
func TestFormatNamesEveryKey(t *testing.T) {
	page := formatPage(t)
	examples := strings.Join(formatExamples(t), "\n")
	for _, record := range recordTypes() {
		for _, key := range keysOf(reflect.TypeOf(record)) {
			if !strings.Contains(page, "`"+key+"`") {
				t.Errorf("%T: the page does not explain `%s`", record, key)
			}
			if !strings.Contains(examples, `"`+key+`":`) {
				t.Errorf("%T: no example has %q", record, key)
			}
		}
	}
	for _, key := range []string{"arena", "pool", "frame", "gen", "dns", "op", "n", "fl", "item", "f", "r", "sc", "x", "dt", "pr", "a", "q", "st"} {
		if !strings.Contains(page, "`"+key+"`") || !strings.Contains(examples, `"`+key+`":`) {
			t.Errorf("events: the page does not explain `%s` or has no example of it", key)
		}
	}
}

func TestFormatNamesEveryCounter(t *testing.T) {
	page := formatPage(t)
	for counter := range Counter(NumCounters) {
		if !strings.Contains(page, "`"+counter.String()+"`") {
			t.Errorf("the page does not name %s", counter)
		}
		if again, known := CounterByName(counter.String()); !known || again != counter {
			t.Errorf("%s is found as %s", counter, again)
		}
	}
}

func TestFormatNamesEveryOpCode(t *testing.T) {
	codes := map[int]bool{}
	for _, match := range regexp.MustCompile(`(?m)^\| (\d+) \|`).FindAllStringSubmatch(formatPage(t), -1) {
		code, _ := strconv.Atoi(match[1])
		codes[code] = true
	}
	for op := arena.OpNew; op <= arena.OpUnseen; op++ {
		if !codes[int(op)] {
			t.Errorf("the page does not name op code %d of arenas", op)
		}
	}
	for op := pool.OpSegment; op <= pool.OpRebuild; op++ {
		if !codes[int(op)] {
			t.Errorf("the page does not name op code %d of pools", op)
		}
	}
}

func TestFormatNamesEveryWord(t *testing.T) {
	page := formatPage(t)
	for _, word := range []string{
		KindProcess, KindDevice, KindHost, KindCalibration, OfDevice, OfProcess, OfHost, OfPool, OfArena, OfPeaks, OfContext,
		CommandReclaim, CommandForceReclaim, CommandRebuild, CommandResetPeak, CommandHeadroom, CommandSnapshot,
		CommandRecordOn, CommandRecordOff, CommandCalibration,
		AckAccepted, AckDone, AckFailed, AckExpired, AckRefused, AckUnsupported, AckBusy,
	} {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("the page does not name `%s`", word)
		}
	}
}
