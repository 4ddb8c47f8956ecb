package costs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"vramscope/model/dump"
)

// Question is for what a scope is sized. It is not changed once it was asked.
type Question struct {
	Frames  int64            // from 1
	Drivers map[string]int64 // units by driver; one that is not there is not known
}

// FramesDriver is the driver that the number of frames itself is.
const FramesDriver = "frames"

// units is how many units a driver has.
func (q *Question) units(name string) (int64, bool) {
	if units, ok := q.Drivers[name]; ok {
		return units, true
	}
	return q.Frames, name == FramesDriver
}

// With is the question with another driver.
func (q Question) With(name string, units int64) Question {
	drivers := maps.Clone(q.Drivers)
	if drivers == nil {
		drivers = map[string]int64{}
	}
	drivers[name] = units
	return Question{q.Frames, drivers}
}

// DriversText is the drivers that are known, "pool=65536 primary=1024".
func (q *Question) DriversText() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(q.Drivers)) {
		texts = append(texts, fmt.Sprintf("%s=%d", dump.CleanText(name), q.Drivers[name]))
	}
	return strings.Join(texts, " ")
}

// MostFrames is the largest number of frames that can be asked for.
const MostFrames = 1_000_000_000

// QuestionError says that what was typed is no question.
type QuestionError struct {
	Text  string
	Wants string // what to write, as a sentence goes on
}

// Error is one sentence that says what to write.
func (e *QuestionError) Error() string { return fmt.Sprintf("%q: write %s", e.Text, e.Wants) }

// ParseFrames reads numbers of frames, "8" or "1,8,64", each once. The error is a
// *QuestionError.
func ParseFrames(text string) ([]int64, error) {
	var frames []int64
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || n < 1 || n > MostFrames || len(frames) == mostColumns {
			return nil, &QuestionError{dump.CleanText(text), fmt.Sprintf("numbers of frames from 1 to %d, such as 8 or 1,8,64, and at most %d of them", MostFrames, mostColumns)}
		}
		if !slices.Contains(frames, n) {
			frames = append(frames, n)
		}
	}
	return frames, nil
}

// mostColumns is how many numbers of frames stand side by side.
const mostColumns = 8

// ParseDriver reads the units of a driver, "pool=65536". The error is a
// *QuestionError.
func ParseDriver(text string) (name string, units int64, err error) {
	name, number, _ := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	units, err = strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if name == "" || err != nil || units < 0 {
		return "", 0, &QuestionError{dump.CleanText(text), "a driver and how many units it has, such as pool=65536"}
	}
	return name, units, nil
}

// Amount is bytes, or why they are not known.
type Amount struct {
	Bytes int64
	Known bool
	Why   string // one sentence, where they are not known
}

func known(bytes int64) Amount { return Amount{Bytes: bytes, Known: true} }

func unknown(why string) Amount { return Amount{Why: why} }

// Compare orders amounts, the unknown ones first.
func (a Amount) Compare(b Amount) int {
	if a.Known != b.Known {
		if a.Known {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Bytes, b.Bytes)
}
