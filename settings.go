package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings are what the user may choose. Each has a flag, a variable
// VRAMSCOPE_NAME and a key in the configuration file; the flag wins over the
// variable, the variable over the file, the file over the default.
type settings struct {
	Config   string        // path of the configuration file
	ReadOnly bool          // refuse every key that acts on a process
	Theme    string        // a name, or the path of a theme file
	Color    string        // auto, always, truecolor, 256, 16, none
	ASCII    bool          // no glyph outside ASCII
	NoMouse  bool          // leave the mouse to the terminal
	Interval time.Duration // between two readings of a device, 100 ms at least
	Refresh  time.Duration // between two drawings of new data, 50 ms at least
	Reserve  byteSize      // what headroom holds back
	History  time.Duration // how long the live view remembers samples
	Keep     byteSize      // how many bytes of events the live view remembers

	DumpMemory byteSize // how many bytes the indexes of memory dumps may take together
	NoSync     bool     // do not bracket frames with synchronized output
	Unit       string   // time axis: seconds or frames
	NVML       string   // path of the NVML library, "" lets the loader find it
}

const (
	minimumInterval = 100 * time.Millisecond
	minimumRefresh  = 50 * time.Millisecond
)

func defaultSettings() settings {
	return settings{
		Config:   filepath.Join(xdg.ConfigHome, "vramscope", "config.toml"),
		Theme:    "default",
		Color:    "auto",
		Interval: 500 * time.Millisecond,
		Refresh:  250 * time.Millisecond,
		Reserve:  1 << 30,
		History:  10 * time.Minute,
		Keep:     4 << 20,

		DumpMemory: 1 << 30,

		Unit: "seconds",
	}
}

// addFlags offers every setting as a flag of command and of those below it.
func (s *settings) addFlags(command *cobra.Command) {
	flags := command.PersistentFlags()
	flags.StringVar(&s.Config, "config", s.Config, "configuration `file`")
	flags.BoolVar(&s.ReadOnly, "readonly", s.ReadOnly, "refuse every key that acts on a process")
	flags.StringVar(&s.Theme, "theme", s.Theme, "theme: a `name`, or the path of a theme file")
	flags.StringVar(&s.Color, "color", s.Color, "colours: auto, always, truecolor, 256, 16, none")
	flags.BoolVar(&s.ASCII, "ascii", s.ASCII, "draw with ASCII alone")
	flags.BoolVar(&s.NoMouse, "no-mouse", s.NoMouse, "leave the mouse to the terminal")
	flags.DurationVar(&s.Interval, "interval", s.Interval, "time between two readings of a device, at least 100ms")
	flags.DurationVar(&s.Refresh, "refresh", s.Refresh, "time between two drawings of new data, at least 50ms")
	flags.Var(&s.Reserve, "reserve", "bytes that headroom holds back")
	flags.DurationVar(&s.History, "history", s.History, "how long the live view remembers samples")
	flags.Var(&s.Keep, "keep", "how many bytes of events the live view remembers")
	flags.Var(&s.DumpMemory, "dump-memory", "how many bytes the indexes of memory dumps may take together; those of the rest are read again when chosen")
	flags.BoolVar(&s.NoSync, "no-sync", s.NoSync, "do not bracket frames with synchronized output")
	flags.StringVar(&s.NVML, "nvml", s.NVML, "`path` of NVIDIA's management library, where the loader does not find it")
	flags.StringVar(&s.Unit, "unit", s.Unit, "time axis: seconds or frames")
}

// resolve fills in what no flag said, from the environment and then from the
// configuration file, and checks the whole. Warnings are for the user's eyes:
// keys of the file that mean nothing.
func (s *settings) resolve(flags *pflag.FlagSet, lookup func(string) (string, bool)) (warnings []string, err error) {
	fromEnvironment := func(flag *pflag.Flag) (string, string, bool) {
		name := "VRAMSCOPE_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, set := lookup(name)
		return name, value, set && value != ""
	}
	if flag := flags.Lookup("config"); flag != nil && !flag.Changed {
		if _, value, set := fromEnvironment(flag); set {
			s.Config = value
		}
	}
	file, err := readConfiguration(s.Config, flags.Changed("config"))
	if err != nil {
		return nil, err
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed || flag.Name == "config" || err != nil || !isSetting(flag.Name) {
			delete(file, flag.Name)
			return
		}
		if name, value, set := fromEnvironment(flag); set {
			if problem := flag.Value.Set(value); problem != nil {
				err = usageError{fmt.Sprintf("%s=%q: %s", name, value, valueAdvice(flag, problem))}
			}
		} else if value, set := file[flag.Name]; set {
			if problem := flag.Value.Set(fmt.Sprint(value)); problem != nil {
				err = usageError{fmt.Sprintf("%s, key %q: %s", s.Config, flag.Name, valueAdvice(flag, problem))}
			}
		}
		delete(file, flag.Name)
	})
	if err != nil {
		return nil, err
	}
	for key := range file {
		warnings = append(warnings, fmt.Sprintf("%s: the key %q means nothing here and was passed over", s.Config, key))
	}
	return warnings, s.check()
}

// isSetting tells the settings from the flags of a single command.
func isSetting(name string) bool {
	all := &cobra.Command{}
	defaults := defaultSettings()
	defaults.addFlags(all)
	return all.PersistentFlags().Lookup(name) != nil
}

func (s *settings) check() error {
	switch s.Color {
	case "auto", "always", "truecolor", "256", "16", "none":
	default:
		return usageError{fmt.Sprintf("--color %q: choose auto, always, truecolor, 256, 16 or none", s.Color)}
	}
	switch s.Unit {
	case "seconds", "frames":
	default:
		return usageError{fmt.Sprintf("--unit %q: choose seconds or frames", s.Unit)}
	}
	if s.Interval < minimumInterval {
		return usageError{fmt.Sprintf("--interval %v: readings closer than %v can slow the render; choose %v or more", s.Interval, minimumInterval, minimumInterval)}
	}
	if s.Refresh < minimumRefresh {
		return usageError{fmt.Sprintf("--refresh %v: choose %v or more", s.Refresh, minimumRefresh)}
	}
	if s.History < time.Second {
		return usageError{fmt.Sprintf("--history %v: choose a second or more", s.History)}
	}
	return nil
}

// readConfiguration reads the configuration file; one that is not there is
// empty, unless it was asked for by name.
func readConfiguration(path string, asked bool) (map[string]any, error) {
	file := map[string]any{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !asked {
		return file, nil
	}
	if err != nil {
		return nil, usageError{fmt.Sprintf("the configuration file cannot be read: %v", err)}
	}
	if err := toml.Unmarshal(text, &file); err != nil {
		return nil, usageError{fmt.Sprintf("%s: %v", path, err)}
	}
	return file, nil
}
