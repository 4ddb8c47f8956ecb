package dump

import (
	"fmt"
	"strconv"
	"strings"
)

// Moment names a moment of any trace: the end, the peak of requested bytes, an
// event by number, or a time from the first event.
type Moment struct {
	kind  momentKind
	event int
	us    int64
}

type momentKind int

const (
	momentEnd momentKind = iota
	momentPeak
	momentEvent
	momentTime
)

// The moments that need no number.
var (
	AtEnd  = Moment{kind: momentEnd}
	AtPeak = Moment{kind: momentPeak}
)

// AtEvent is the moment after an event.
func AtEvent(event int) Moment { return Moment{kind: momentEvent, event: event} }

// ParseMoment reads what stands behind the @ of FILE@MOMENT: "peak", "end", an
// event's number, or seconds from the first event as in "12.5s".
func ParseMoment(text string) (Moment, error) {
	switch text {
	case "", "end":
		return AtEnd, nil
	case "peak":
		return AtPeak, nil
	}
	if seconds, isTime := strings.CutSuffix(text, "s"); isTime {
		if value, err := strconv.ParseFloat(seconds, 64); err == nil && value >= 0 && value < 1e12 {
			return Moment{kind: momentTime, us: int64(value*1e6 + 0.5)}, nil
		}
	}
	if event, err := strconv.Atoi(text); err == nil && event >= 0 {
		return AtEvent(event), nil
	}
	return Moment{}, &MomentError{Text: text, Reason: "it is none of peak, end, an event's number, or seconds such as 12.5s"}
}

// SplitMoment takes FILE@MOMENT apart. A name whose last part after an @ is no
// moment is a file's, and means its end.
func SplitMoment(argument string) (file string, moment Moment) {
	if at := strings.LastIndexByte(argument, '@'); at > 0 {
		if moment, err := ParseMoment(argument[at+1:]); err == nil {
			return argument[:at], moment
		}
	}
	return argument, AtEnd
}

// String is the moment as it is written behind an @.
func (m Moment) String() string {
	switch m.kind {
	case momentPeak:
		return "peak"
	case momentEvent:
		return strconv.Itoa(m.event)
	case momentTime:
		return strconv.FormatFloat(float64(m.us)/1e6, 'f', -1, 64) + "s"
	}
	return "end"
}

// MomentError says which moment cannot be shown and why.
type MomentError struct {
	Text   string
	Reason string
}

func (e *MomentError) Error() string {
	return fmt.Sprintf("no moment %q: %s", CleanText(e.Text), e.Reason)
}

// Event is the event after which a moment lies; BeforeFirst before all of them.
// The error is a *MomentError.
func (d *Device) Event(m Moment) (int, error) {
	switch m.kind {
	case momentPeak:
		return d.Peaks[Requested].Event, nil
	case momentEvent:
		if m.event >= d.Events.Len() {
			return 0, &MomentError{m.String(), fmt.Sprintf("the trace of %s has %d events, counted from 0; give a smaller number or end", d.Name(), d.Events.Len())}
		}
		return m.event, nil
	case momentTime:
		if !d.Timed() {
			return 0, &MomentError{m.String(), fmt.Sprintf("the events of %s have no times; give an event's number", d.Name())}
		}
		return d.LastUntil(d.FirstUs + m.us), nil
	}
	return d.Events.Len() - 1, nil
}

// ByStack adds up by stack what is live at a moment; at the end, the blocks of
// the end state.
func (d *Device) ByStack(m Moment) ([]StackTotal, error) {
	if m.kind == momentEnd {
		return d.EndByStack(), nil
	}
	event, err := d.Event(m)
	if err != nil {
		return nil, err
	}
	return d.LiveByStack(event), nil
}
