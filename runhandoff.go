package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vramscope/sources/probe"
	"vramscope/sources/probe/attach"
)

// sayHandedOff says of scripts that algan handed to its daemon where they were
// rendered, and whether that could be seen. The user asked for it with
// ALGAN_USE_DAEMON.
func (r *programRun) sayHandedOff() {
	scripts := r.handed.Scripts()
	if len(scripts) == 0 {
		return
	}
	slices.Sort(scripts)
	scripts = slices.Compact(scripts)
	r.remark("%s", handedOff(strings.Join(scripts, ", "), alganDaemons()))
}

// alganDaemon is a daemon of algan's that runs here.
type alganDaemon struct {
	pid      int
	hasProbe bool
}

// alganDaemons are those of this user; the one alone that scripts are handed to,
// where algan's file of it tells which.
func alganDaemons() (daemons []alganDaemon) {
	processes, err := attach.Processes()
	if err != nil {
		return nil
	}
	directory, err := probe.Directory()
	registered := registeredDaemon()
	for _, process := range processes {
		if process.UID != os.Getuid() || !process.IsAlganDaemon() {
			continue
		}
		daemon := alganDaemon{process.PID, err == nil && process.HasProbe(directory)}
		if daemon.pid == registered {
			return []alganDaemon{daemon}
		}
		daemons = append(daemons, daemon)
	}
	return daemons
}

// registeredDaemon is the process in algan's file of its daemon, 0 where there is
// none. One that was killed stays there.
func registeredDaemon() int {
	home := os.Getenv("ALGAN_HOME")
	if home == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return 0
		}
		home = filepath.Join(user, ".algan")
	}
	text, err := os.ReadFile(filepath.Join(home, "daemon.json"))
	if err != nil {
		return 0
	}
	var state struct {
		PID int `json:"pid"`
	}
	if json.Unmarshal(text, &state) != nil {
		return 0
	}
	return state.PID
}

// handedOff is one sentence on scripts that render in a daemon: what was seen of
// them, and what to do.
func handedOff(scripts string, daemons []alganDaemon) string {
	silent := slices.DeleteFunc(slices.Clone(daemons), func(d alganDaemon) bool { return d.hasProbe })
	const stay = "leave ALGAN_USE_DAEMON unset, so that scripts render in this run"
	switch {
	case len(daemons) == 0:
		return scripts + " was handed to algan's daemon, which is gone, since ALGAN_USE_DAEMON is set: nothing of the render was seen in this run; " + stay
	case len(silent) == 0:
		return fmt.Sprintf("%s was handed to algan's daemon, %s, since ALGAN_USE_DAEMON is set: it lives on with a probe of its own, so watch it with vramscope, or record it with vramscope record -o FILE pid:%d",
			scripts, processNumbers(daemons), daemons[0].pid)
	}
	return fmt.Sprintf("nothing of the render was seen: %s was handed to algan's daemon, %s, which has no probe, since ALGAN_USE_DAEMON is set: %s, or stop that daemon and start it with %s",
		scripts, processNumbers(silent), stay, daemonWithProbe)
}

// daemonWithProbe starts algan's daemon so that what it renders is seen.
const daemonWithProbe = "vramscope run -- python -m algan.daemon"

// processNumbers is "process 12", or "process 12 or 13".
func processNumbers(daemons []alganDaemon) string {
	numbers := make([]string, len(daemons))
	for i, daemon := range daemons {
		numbers[i] = strconv.Itoa(daemon.pid)
	}
	return "process " + strings.Join(numbers, " or ")
}
