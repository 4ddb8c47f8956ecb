package main

import (
	"fmt"
	"os"

	"vramscope/model"
	"vramscope/sources/probe"
	"vramscope/sources/probe/attach"
	"vramscope/sources/probe/launch"
)

// mostPythons is how many Python processes are listed one by one.
const mostPythons = 40

// diagnosePythons says of each Python process that has no probe whether one can
// be let in, and how.
func diagnosePythons(snapshot *model.Snapshot, silent map[int]probe.Name, say func(good bool, what, how string)) error {
	pythons, err := attach.Processes()
	if err != nil {
		return err
	}
	listed := 0
	for _, process := range firstThose(pythons, func(p *attach.Process) bool { return launch.IsOfRun(p.PID) }) {
		if _, waits := silent[process.PID]; waits || snapshot.Find(process.SocketName().ID()) != nil {
			continue // it was told of
		}
		if listed++; listed > mostPythons {
			continue
		}
		say(diagnosePython(process))
	}
	if listed > mostPythons {
		say(true, fmt.Sprintf("%d more Python processes", listed-mostPythons), "vramscope attach PID says of each whether it can be entered")
	}
	return nil
}

// firstThose puts some of the processes before the others: of a run more is expected,
// and the list has an end.
func firstThose(processes []*attach.Process, are func(*attach.Process) bool) (ordered []*attach.Process) {
	var others []*attach.Process
	for _, process := range processes {
		if are(process) {
			ordered = append(ordered, process)
		} else {
			others = append(others, process)
		}
	}
	return append(ordered, others...)
}

// diagnosePython says of a Python process that is not seen whether it can be, and
// how.
func diagnosePython(process *attach.Process) (good bool, what, how string) {
	what = fmt.Sprintf("Python %v, process %d, %s", process.Version, process.PID, process.Name)
	place := process.SocketDirectory()
	here, err := probe.Directory()
	isHere := err == nil && place == here
	switch obstacle := process.Obstacle(); {
	case process.UID == os.Getuid() && !isHere && process.HasProbe(place):
		return false, what + ": lets vramscope in elsewhere", fmt.Sprintf("its socket is in %s: watch it with %s=%s vramscope", place, probe.DirectoryVariable, place)
	case launch.IsOfRun(process.PID):
		what += ": started by vramscope run"
		return diagnoseLaunched(process, what, place, isHere)
	case process.IsAlganDaemon():
		return false, what + ": algan's daemon, without a probe", fmt.Sprintf("scripts that algan hands to it render there unseen: "+
			"start them with vramscope run, which keeps them in their own process, or stop it (kill %d) and start it with %s", process.PID, daemonWithProbe)
	case obstacle != nil:
		return false, what, obstacle.Error()
	}
	return true, what + ": can be entered", fmt.Sprintf("let the probe in with `vramscope attach %d`", process.PID)
}

// diagnoseLaunched says of a Python process that vramscope run has started, or
// that is a child of one, when it is seen. place is where its socket will be, and
// isHere whether it is looked for there.
func diagnoseLaunched(process *attach.Process, what, place string, isHere bool) (good bool, told, how string) {
	if why := keptOut(process); why != "" {
		if process.Obstacle() == nil {
			why += fmt.Sprintf("; now let it in with `vramscope attach %d`", process.PID)
		}
		return false, what + ", without a probe", why
	}
	forked, library := process.ForkedFrom(), process.GPULibrary()
	when := "the probe starts with the first GPU library that it loads"
	switch {
	case forked > 0 && library != "":
		what += fmt.Sprintf(", and forked by process %d", forked)
		when = fmt.Sprintf("a fork that only inherits %s opens no socket: the probe starts once it holds memory of its own on a device, registers an arena or calls poll()", library)
	case library != "":
		what += ", without a probe"
		when = fmt.Sprintf("it has %s: a fork whose parent has ended opens a socket once it holds memory of its own on a device, registers an arena or calls poll(); in another, "+
			"let the program print vramscope_probe.problem(), which says why its probe could not start", library)
	}
	if !isHere {
		return false, what, fmt.Sprintf("%s; its socket will be in %s: watch it with %s=%s vramscope", when, place, probe.DirectoryVariable, place)
	}
	return forked > 0 || library == "", what, when
}
