package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"vramscope/pool/cuda"
	"vramscope/sources/local"
)

// chooseGPU finds the GPU that a --gpu names: by its number, or by its UUID or
// the beginning of it.
func chooseGPU(gpus []cuda.Device, text string) (cuda.Device, error) {
	var found []cuda.Device
	text = strings.TrimPrefix(text, "gpu:") // as a SOURCE has it
	number, err := strconv.Atoi(text)
	for _, gpu := range gpus {
		if err == nil && gpu.Ordinal == number || err != nil && text != "" && strings.HasPrefix(strings.ToLower(gpu.UUID), strings.ToLower(text)) {
			found = append(found, gpu)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	names := make([]string, len(gpus))
	for i, gpu := range gpus {
		names[i] = fmt.Sprintf("%d (%s)", gpu.Ordinal, gpu.UUID)
	}
	if len(found) == 0 {
		return cuda.Device{}, usageError{fmt.Sprintf("--gpu %q: there is no such GPU here, choose %s, or all", text, strings.Join(names, ", "))}
	}
	return cuda.Device{}, usageError{fmt.Sprintf("--gpu %q names %d GPUs: choose %s, or all", text, len(found), strings.Join(names, ", "))}
}

// listTime bounds how long the driver is given to load and to list its GPUs.
const listTime = 30 * time.Second

// askGPUs lists the GPUs by a process of its own, so that this one does not
// load the driver. The error is that process's sentence, with its exit code.
func askGPUs(ctx context.Context) ([]cuda.Device, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	command := exec.CommandContext(ctx, program, "host", "--list", "--json")
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the driver did not list its GPUs within %v: look for an Xid in the kernel's log", listTime)
	}
	if err != nil {
		return nil, childsError(err, lastLine(problems.String()))
	}
	var rows []listedGPU
	if err := json.Unmarshal(output, &rows); err != nil {
		return nil, fmt.Errorf("the list of GPUs cannot be read: %w", err)
	}
	gpus := make([]cuda.Device, len(rows))
	for i, row := range rows {
		gpus[i] = cuda.Device(row)
	}
	return gpus, nil
}

// childsError is the sentence that a process of ours ended with, and its exit
// code as ours.
func childsError(err error, said string) error {
	said = strings.TrimPrefix(said, "vramscope: ")
	var exit *exec.ExitError
	if said == "" || !errors.As(err, &exit) || exit.ExitCode() < 0 {
		return err
	}
	return exitError{exit.ExitCode(), errors.New(said)}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// hostError is why a render on a GPU did not start, in its own words.
func hostError(err error) error {
	var child *local.ChildError
	if errors.As(err, &child) {
		return childsError(err, child.Said)
	}
	return err
}

// startHosts starts the renders, each in a process of its own, and watches them
// until the hub closes. It is an error of the program when none starts.
func (p *program) startHosts(h *hub, flags *hostFlags) {
	gpus := []string{flags.gpu}
	if flags.gpu == allGPUs {
		listed, err := askGPUs(h.ctx)
		if err != nil {
			if h.ctx.Err() == nil {
				h.fail(err)
			}
			return
		}
		gpus = uuids(listed)
	}
	failed := make([]error, len(gpus))
	var starting sync.WaitGroup
	for i, gpu := range gpus {
		starting.Go(func() { _, failed[i] = h.startRender(flags.arguments(gpu), "host render") })
	}
	starting.Wait()
	if h.ctx.Err() != nil {
		return
	}
	started := 0
	for _, err := range failed {
		if err == nil {
			started++
		}
	}
	for i, err := range failed {
		switch {
		case err == nil:
		case started == 0:
			h.fail(hostError(err))
		default:
			h.note(local.MachineID, fmt.Sprintf("no render on GPU %s: %v", gpus[i], hostError(err)))
		}
	}
}

func uuids(gpus []cuda.Device) []string {
	names := make([]string, len(gpus))
	for i, gpu := range gpus {
		names[i] = gpu.UUID
	}
	return names
}

// serveHosts runs a render on each GPU without a dashboard, each in a process of
// its own, until all have ended. The error is that of the first that failed.
func (p *program) serveHosts(ctx context.Context, flags *hostFlags) error {
	gpus, err := askGPUs(ctx)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	failed := make([]error, len(gpus))
	var running sync.WaitGroup
	var printing sync.Mutex
	for i, gpu := range gpus {
		running.Go(func() {
			child, err := local.Spawn(ctx, append([]string{program}, flags.arguments(gpu.UUID)...))
			if err != nil {
				failed[i] = hostError(err)
				return
			}
			printing.Lock()
			p.sayHost(gpu.Ordinal, child.PID())
			printing.Unlock()
			select {
			case <-ctx.Done():
			case <-child.Ended():
			}
			child.Stop()
			failed[i] = hostError(child.Err())
		})
	}
	running.Wait()
	for i, err := range failed {
		if err != nil && ctx.Err() == nil {
			return exitError{exitCode(err), fmt.Errorf("GPU %d: %w", gpus[i].Ordinal, err)}
		}
	}
	return nil
}
