package model

import (
	"cmp"
	"slices"
	"time"

	"vramscope/arena"
	"vramscope/recorder"
)

// Report is what a recording holds, for `vramscope report`. Its JSON keys are
// part of the program's interface: they are added to and never change meaning.
// All sizes are bytes, all times ns; a number that is not known is null or left
// out, never 0.
type Report struct {
	File      string         `json:"file"`
	Status    string         `json:"status"`               // "complete", "cut", "following", "loading", "failed"
	Why       string         `json:"why,omitempty"`        // a sentence on the status
	Bytes     int64          `json:"bytes,omitempty"`      // read so far
	Records   int64          `json:"records,omitempty"`    // lines that were records
	BadLines  int64          `json:"bad_lines,omitempty"`  // lines that could not be read
	LongLines int64          `json:"long_lines,omitempty"` // lines that were longer than a record may be
	Unknown   int64          `json:"unknown_records,omitempty"`
	CutBytes  int64          `json:"cut_bytes,omitempty"` // of a record whose end is missing, at the end of the file
	Bad       []BadLine      `json:"first_bad_lines,omitempty"`
	Missing   []string       `json:"missing,omitempty"` // what a reader would look for and not find, each a sentence
	Sources   []SourceReport `json:"sources"`
}

// BadLine is a line that could not be read.
type BadLine struct {
	Line   int64  `json:"line"`   // from 1
	Offset int64  `json:"offset"` // of its first byte
	Reason string `json:"reason"`
}

// SourceReport is one source of a recording. Times are ns after its first record.
type SourceReport struct {
	ID           string           `json:"id"` // as its records call it
	Kind         string           `json:"kind,omitempty"`
	Name         string           `json:"name,omitempty"`
	Version      string           `json:"version,omitempty"` // of the writer
	PID          int              `json:"pid,omitempty"`
	Job          string           `json:"job,omitempty"`     // that several processes share
	Rank         *int             `json:"rank,omitempty"`    // its place in the job
	GPUs         []string         `json:"gpus,omitempty"`    // UUIDs
	Started      string           `json:"started,omitempty"` // wall clock at the first record, RFC 3339 in UTC
	DurationNs   int64            `json:"duration_ns"`       // from the first record to the last
	Frames       *FramesReport    `json:"frames,omitempty"`
	Sets         []SetReport      `json:"counter_sets,omitempty"`
	Arenas       []ArenaReport    `json:"arenas,omitempty"`
	Summed       *SummedReport    `json:"scopes_by_name,omitempty"` // over all arenas, where there are several
	Pools        []PoolReport     `json:"pools,omitempty"`
	Peak         *PeakReport      `json:"peak,omitempty"`
	NonArena     []NonArenaReport `json:"non_arena_peaks,omitempty"`
	OOMs         []OOMReport      `json:"ooms,omitempty"`
	Actions      []ActionReport   `json:"actions,omitempty"`
	Notes        []NoteReport     `json:"notes,omitempty"`
	Lost         int64            `json:"lost_records,omitempty"`   // that the source said it dropped
	Dropped      int64            `json:"dropped_arenas,omitempty"` // recorded arenas and transients that did not fit its registry
	Problems     []string         `json:"problems,omitempty"`       // what the records say that cannot be
	Ended        string           `json:"ended,omitempty"`          // why it ended, as it said
	EndIsMissing bool             `json:"end_is_missing,omitempty"` // it did not say goodbye
}

// FramesReport is the frames of a source.
type FramesReport struct {
	First     int64  `json:"first"`
	Last      int64  `json:"last"`
	AverageNs *int64 `json:"average_ns"` // of those that ended
}

// SetReport is the counters of one allocator, device or process over the run.
type SetReport struct {
	ID       string                   `json:"id"`
	Of       string                   `json:"of"`
	Name     string                   `json:"name,omitempty"`
	Device   string                   `json:"device,omitempty"`
	Call     string                   `json:"call,omitempty"` // that the numbers came from
	In       string                   `json:"in,omitempty"`   // the set that it lies inside
	Counters map[string]CounterReport `json:"counters"`
	Why      map[string]string        `json:"why_missing,omitempty"`
	LastAt   int64                    `json:"last_told_at_ns,omitempty"` // after the beginning; 0 of a set that was told to the end
}

// CounterReport is one counter over the run. At says when it was largest, MinAt
// when it was least.
type CounterReport struct {
	Last  *int64 `json:"last"`
	Max   int64  `json:"max"`
	At    int64  `json:"max_at_ns"`
	Min   int64  `json:"min"`
	MinAt int64  `json:"min_at_ns"`
}

// PeakReport is the highest that a source's peak counters report.
type PeakReport struct {
	Reported   *int64 `json:"reported"`   // max(live, floor, open)
	Live       *int64 `json:"live"`       // the resettable peak
	Floor      *int64 `json:"floor"`      // displaced by regions that ended
	Open       *int64 `json:"open"`       // displaced by regions still open
	Compatible *int64 `json:"compatible"` // as algan reports it
}

// NonArenaReport is the transients of one name made outside the arena.
type NonArenaReport struct {
	Name       string   `json:"name"`
	Count      int64    `json:"count"`
	InputBytes int64    `json:"input_bytes"` // of the sample with the largest peak
	PeakBytes  int64    `json:"peak_bytes"`  // the largest
	Ratio      *float64 `json:"ratio"`       // peak / input
}

// OOMReport is an allocation failure.
type OOMReport struct {
	AtNs        int64    `json:"at_ns"`
	Frame       *int64   `json:"frame"`
	Allocator   string   `json:"allocator"`
	Asked       int64    `json:"asked_bytes"`
	Free        *int64   `json:"device_free_bytes"`
	PoolFree    *int64   `json:"pool_free_bytes"`
	LargestFree *int64   `json:"largest_free_bytes"`
	Rule        string   `json:"rule,omitempty"`
	Scope       string   `json:"scope,omitempty"`
	Rescued     bool     `json:"rescued"`
	Outcome     string   `json:"outcome,omitempty"`
	Steps       []string `json:"steps,omitempty"`
}

// ActionReport is a command and its answer.
type ActionReport struct {
	AtNs    int64    `json:"at_ns"`
	Command string   `json:"command"`
	State   string   `json:"state"` // of the last answer; "sent" without one
	TookNs  int64    `json:"took_ns,omitempty"`
	Line    string   `json:"line"`
	Detail  []string `json:"detail,omitempty"`
}

// NoteReport is a remark.
type NoteReport struct {
	AtNs  int64  `json:"at_ns"`
	Level string `json:"level"` // "info", "warning", "error"
	Text  string `json:"text"`
}

// ReportOf says what the recording of a source ID holds, as far as it was read.
// It is not ok when the snapshot has no such recording.
func ReportOf(s *Snapshot, sourceID string) (report Report, ok bool) {
	for _, v := range s.Sources {
		if v.Source != sourceID {
			continue
		}
		if !ok {
			ok = true
			report = fileReport(v)
		}
		if v.Hello == nil && v.First == 0 {
			report.Missing = append(report.Missing, "no source introduces itself: the file holds no hello")
			continue
		}
		source := sourceReport(v, s.Log)
		if source.EndIsMissing && v.Status != StatusFollowing {
			report.Missing = append(report.Missing, v.title()+" did not say goodbye: what came after the last record is missing")
		}
		if v.Kind == recorder.KindCalibration && len(source.Arenas) == 0 {
			report.Missing = append(report.Missing, v.title()+" recorded no arena: it has none, or none was made while recording was armed")
		}
		report.Sources = append(report.Sources, source)
	}
	return report, ok
}

func fileReport(v *SourceView) Report {
	report := Report{File: v.File, Status: v.Status.String(), Why: v.StatusWhy, Bytes: v.Done, Records: v.Unread.Records,
		BadLines: v.Unread.BadLines, LongLines: v.Unread.LongLines, Unknown: v.Unread.Unknown, CutBytes: v.Unread.CutBytes,
		Sources: []SourceReport{}}
	for _, bad := range v.Unread.First {
		report.Bad = append(report.Bad, BadLine{Line: bad.Line, Offset: bad.Offset, Reason: bad.Reason})
	}
	if v.Unread.CutBytes > 0 {
		report.Missing = append(report.Missing, "the file ends inside a record: "+FormatBytes(v.Unread.CutBytes)+" of it are there and were left out")
	}
	return report
}

func sourceReport(v *SourceView, log []Entry) SourceReport {
	report := SourceReport{ID: cmp.Or(v.Src, v.ID), Kind: v.Kind, Name: v.Name, DurationNs: v.Now - v.First, Lost: v.Lost,
		Dropped: v.Dropped, Problems: v.Problems, EndIsMissing: v.Goodbye == nil}
	if v.Goodbye != nil {
		report.Ended = cmp.Or(v.Goodbye.Why, "without a reason")
	}
	if hello := v.Hello; hello != nil {
		report.Version, report.PID, report.Job, report.Rank = hello.Version, hello.PID, hello.Job, hello.Rank
		for _, gpu := range hello.GPUs {
			report.GPUs = append(report.GPUs, gpu.UUID)
		}
		if hello.Wall != 0 {
			report.Started = time.Unix(0, hello.Wall+v.First-hello.Ns).UTC().Format(time.RFC3339Nano)
		}
	}
	if first, last, ok := v.Frames(); ok {
		report.Frames = &FramesReport{First: first, Last: last}
		if average, ok := v.FrameDuration(last - first); ok {
			report.Frames.AverageNs = &average
		}
	}
	report.Sets = setReports(v)
	arenas := slices.Concat(v.Gone, v.Arenas)
	for _, a := range arenas {
		report.Arenas = append(report.Arenas, arenaReport(v, a))
	}
	if whole, abandoned := SumScopes(arenas); (v.Kind == recorder.KindCalibration || len(arenas) > 1) && len(whole)+len(abandoned) > 0 {
		report.Summed = &SummedReport{Scopes: summedReports(whole), Abandoned: summedReports(abandoned)}
	}
	for _, p := range v.Pools {
		report.Pools = append(report.Pools, poolReport(v, p))
	}
	report.addEvents(v, log)
	return report
}

// addEvents fills in what happened.
func (r *SourceReport) addEvents(v *SourceView, log []Entry) {
	r.Peak = peakReport(v)
	for _, total := range v.NonArena {
		row := NonArenaReport{Name: total.Name, Count: total.Count, InputBytes: total.InputBytes, PeakBytes: total.PeakBytes}
		if total.InputBytes > 0 {
			ratio := float64(total.PeakBytes) / float64(total.InputBytes)
			row.Ratio = &ratio
		}
		r.NonArena = append(r.NonArena, row)
	}
	for _, oom := range v.OOMs {
		r.OOMs = append(r.OOMs, OOMReport{AtNs: oom.Ns - v.First, Frame: oom.Frame, Allocator: oom.ID, Asked: oom.Asked, Free: oom.Free,
			PoolFree: oom.PoolFree, LargestFree: oom.LargestFree, Rule: oom.Rule, Scope: oom.Scope, Rescued: oom.Rescued,
			Outcome: oom.Outcome, Steps: ladderLines(oom)})
	}
	for i := range v.Actions {
		r.Actions = append(r.Actions, actionReport(v, &v.Actions[i]))
	}
	for _, entry := range log {
		if entry.Source == v.ID && entry.Kind == EntryNote {
			r.Notes = append(r.Notes, NoteReport{AtNs: entry.Ns - v.First, Level: entry.Level.String(), Text: entry.Text})
		}
	}
}

func actionReport(v *SourceView, action *Action) ActionReport {
	report := ActionReport{AtNs: action.Sent - v.First, Command: action.Command.Name, State: "sent", Line: action.Line(), Detail: action.Detail()}
	ack := action.Final
	if ack == nil {
		ack = action.Accepted
	}
	if ack != nil {
		report.State, report.TookNs = ack.State, ack.Took
	}
	if action.Sent == 0 && ack != nil {
		report.AtNs = ack.Ns - v.First
	}
	return report
}

// paramReport is a parameter as JSON: its value as it is, and as text where JSON
// has no such number.
func paramReports(params []arena.Param) []ParamReport {
	var reports []ParamReport
	for _, p := range params {
		report := ParamReport{Name: p.Name, Value: p.String()}
		switch p.Kind {
		case arena.ParamInt:
			report.Value = p.Int
		case arena.ParamBool:
			report.Value = p.Int != 0
		case arena.ParamFloat:
			if p.Float-p.Float == 0 { // finite
				report.Value = p.Float
			}
		}
		reports = append(reports, report)
	}
	return reports
}
