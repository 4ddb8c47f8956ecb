package main

import (
	"fmt"
	"os"

	"vramscope/model"
	"vramscope/sources/probe"
	"vramscope/sources/probe/launch"
)

// silentPrograms are the programs that offer a socket here and have not said
// hello by the time of the snapshot, by process number.
func silentPrograms(snapshot *model.Snapshot) map[int]probe.Name {
	directory, err := probe.Directory()
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	silent := map[int]probe.Name{}
	for _, entry := range entries {
		if name, ok := probe.ParseName(entry.Name()); ok && !name.Gone() && snapshot.Find(name.ID()) == nil {
			silent[name.PID] = name
		}
	}
	return silent
}

// silence is one sentence on a program that does not say hello.
func silence(name probe.Name) string {
	if launch.Stopped(name.PID) {
		return fmt.Sprintf("process %d lets vramscope in, but was stopped by a signal: continue it with kill -CONT %d, or fg where it was started", name.PID, name.PID)
	}
	return fmt.Sprintf("process %d lets vramscope in, but does not answer yet: try again, or look with top whether it gets to run", name.PID)
}
