package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"vramscope/model/costs"
	"vramscope/recorder/open"
)

// sizing is for what a calibration file is asked: the flags --frames and
// --driver.
type sizing struct {
	framesText string
	driverText []string

	frames  []int64
	drivers map[string]int64
}

// newSizing is what is asked where no flag is given.
func newSizing() *sizing { return &sizing{frames: costs.DefaultFrames, drivers: map[string]int64{}} }

func (s *sizing) addTo(command *cobra.Command) {
	command.Flags().StringVar(&s.framesText, "frames", "", "of a calibration file: numbers of `frames` to say peaks for, such as 8 or 1,8,64")
	command.Flags().StringArrayVar(&s.driverText, "driver", nil, "of a calibration file: the units of a driver, as `NAME=UNITS`, such as pool=65536; may be given several times")
}

// read reads the flags.
func (s *sizing) read() (err error) {
	if s.framesText != "" {
		if s.frames, err = costs.ParseFrames(s.framesText); err != nil {
			return usageError{"--frames " + err.Error()}
		}
	}
	for _, text := range s.driverText {
		name, units, err := costs.ParseDriver(text)
		if err != nil {
			return usageError{"--driver " + err.Error()}
		}
		s.drivers[name] = units
	}
	return nil
}

// only refuses the flags for a file that is no calibration file.
func (s *sizing) only(path string) error {
	if s.framesText == "" && len(s.driverText) == 0 {
		return nil
	}
	return usageError{path + " is no calibration file of algan's own, the only kind that --frames and --driver are for: leave them out"}
}

// question is what the dashboard begins with: the first number of frames.
func (s *sizing) question() costs.Question {
	return costs.Question{Frames: s.frames[0], Drivers: s.drivers}
}

// reportCosts prints what a calibration file holds.
func (p *program) reportCosts(index *costs.Index, before int, asJSON bool, sizing *sizing) error {
	report := index.Report(sizing.frames, sizing.drivers)
	if asJSON {
		return p.printJSON(report)
	}
	if before > 0 {
		fmt.Fprintln(p.out)
	}
	return report.WriteText(p.out)
}

func (p *program) printJSON(object any) error {
	encoder := json.NewEncoder(p.out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(object)
}

// diffCosts compares two calibration files; both is false where they are none.
func (p *program) diffCosts(ctx context.Context, a, b string, asJSON bool, sizing *sizing) (both bool, err error) {
	var sides [2]costs.Side
	count := 0
	var none error
	for i, path := range []string{a, b} {
		if !isCostsFile(path) {
			none = cmp.Or[error](readable(path), usageError{path + " is no calibration file, and the other one is: diff compares two of a kind"})
			continue
		}
		snapshot, id, err := p.load(ctx, path)
		if err != nil {
			return true, err
		}
		count++
		sides[i] = costs.Side{Index: snapshot.Find(id).Costs, Name: path}
	}
	switch count {
	case 0:
		return false, nil
	case 1:
		return true, none
	}
	diff := costs.NewDiff(sides[0], sides[1], sizing.frames, sizing.drivers)
	if asJSON {
		return true, p.printJSON(diff)
	}
	return true, diff.WriteText(p.out)
}

// isCostsFile says whether a path names a calibration file, whatever else may be
// wrong with it.
func isCostsFile(path string) bool {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return false // FILE@MOMENT, or nothing
	}
	format, err := open.Recognise(path)
	return err == nil && format.ReadCosts != nil
}
