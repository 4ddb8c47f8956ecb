package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"vramscope/pool"
	"vramscope/pool/cuda"
	"vramscope/sources/local"
	"vramscope/ui/grid"
)

// hostFlags are the choices of a render on the local GPU on the command line.
type hostFlags struct {
	options   local.Options
	gpu       string
	memory    byteSize
	tier      string
	share     float64
	oom       bool
	oversized bool
	headless  bool
	list      bool
	json      bool
	child     bool // it was started by a dashboard and ends with it
}

func (f *hostFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.gpu, "gpu", "0", "the `GPU`: its number as nvidia-smi counts, its UUID, or all for a render on each")
	flags.Var(&f.memory, "memory", "the most that the render takes of the GPU (default half of what is free, 4GiB at most)")
	flags.StringVar(&f.tier, "tier", "", "tier of the pool: A, B, C or fallback; by default the environment and the GPU choose")
	flags.Int64Var(&f.options.Seed, "seed", 0, "what decides everything that looks like chance")
	flags.Float64Var(&f.options.Speed, "speed", 10, "frames a second; -1 leaves no pause between frames")
	flags.Float64Var(&f.options.Hz, "hz", 10, "samples a second")
	flags.Int64Var(&f.options.Frames, "frames", 0, "end after so many frames")
	flags.DurationVar(&f.options.For, "duration", 0, "end after so long")
	flags.BoolVar(&f.oom, "oom", false, "now and then ask the driver for more than the GPU has")
	flags.Float64Var(&f.share, "cuda-default-pool", 0, "share of --memory to take from the GPU's default pool instead, as libraries do: 0 to 0.5")
	flags.BoolVar(&f.oversized, "allow-oversubscription", false, "with --tier C: let --memory be more than the GPU has free; a GPU that pages is slow, and may hang")
	flags.BoolVar(&f.headless, "headless", false, "run the render without a dashboard, to be watched from another terminal")
	flags.BoolVar(&f.list, "list", false, "list the GPUs that it can use, and end")
	flags.BoolVar(&f.json, "json", false, "with --list: print JSON")
	flags.BoolVar(&f.child, "child", false, "")
	_ = flags.MarkHidden("child")
}

// resolve checks the flags and fills in the options.
func (f *hostFlags) resolve() (err error) {
	if f.options.Tier, err = parseTier(f.tier); err != nil {
		return err
	}
	if f.oversized && f.options.Tier != pool.TierC {
		return usageError{"--allow-oversubscription is for managed memory: add --tier C, or leave it out"}
	}
	if f.json && !f.list {
		return usageError{"--json is for --list: add it, or leave --json out"}
	}
	if !f.oom {
		f.options.RescuedEvery, f.options.FailedEvery = local.Never, local.Never
	}
	return nil
}

// arguments are the flags as a child's command line, on a GPU.
func (f *hostFlags) arguments(gpu string) []string {
	arguments := []string{"host", "--child", "--gpu=" + gpu, fmt.Sprintf("--seed=%d", f.options.Seed),
		fmt.Sprintf("--speed=%g", f.options.Speed), fmt.Sprintf("--hz=%g", f.options.Hz),
		fmt.Sprintf("--frames=%d", f.options.Frames), fmt.Sprintf("--duration=%v", f.options.For),
		fmt.Sprintf("--cuda-default-pool=%g", f.share)}
	if f.memory > 0 {
		arguments = append(arguments, fmt.Sprintf("--memory=%d", int64(f.memory)))
	}
	if f.tier != "" {
		arguments = append(arguments, "--tier="+f.tier)
	}
	if f.oom {
		arguments = append(arguments, "--oom")
	}
	if f.oversized {
		arguments = append(arguments, "--allow-oversubscription")
	}
	return arguments
}

// allGPUs as a --gpu is a render on each.
const allGPUs = "all"

// hostCommand opens the dashboard on a render in the memory of a local GPU.
func (p *program) hostCommand() *cobra.Command {
	flags := &hostFlags{}
	command := &cobra.Command{
		Use:   "host",
		Short: "open the dashboard on a render with its own arena and pool on the local GPU",
		Long: `host starts a small render whose arena and pool are memory of a local GPU, and
opens the dashboard on it. Everything that is shown is measured, and every key
acts on the GPU. The render is a process of its own: the dashboard takes no
memory of the GPU. It needs a vramscope that was built with CUDA, and the
driver.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if flags.list {
				if surplus := changedBut(command.LocalNonPersistentFlags(), "list", "json"); surplus != "" {
					return usageError{fmt.Sprintf("--list lists every GPU, whatever --%s says: leave it out", surplus)}
				}
			}
			if err := notZero(command.Flags(), "memory", "speed", "hz"); err != nil {
				return err
			}
			if err := flags.resolve(); err != nil {
				return err
			}
			return p.host(command.Context(), flags)
		},
	}
	flags.add(command)
	return command
}

func (p *program) host(ctx context.Context, flags *hostFlags) error {
	alone := flags.headless || !p.isTerminal()
	switch {
	case !cuda.Included:
		return cuda.ErrNotIncluded
	case flags.list:
		return p.listGPUs(flags.json)
	case flags.child:
		return serveHost(ctx, flags, local.Surroundings{Parent: p.in}, func(cuda.Device) func(string) { return local.Announce })
	case alone && flags.gpu != allGPUs:
		return serveHost(ctx, flags, local.Surroundings{}, func(gpu cuda.Device) func(string) {
			return func(string) { p.sayHost(gpu.Ordinal, os.Getpid()) }
		})
	case alone:
		return p.serveHosts(ctx, flags)
	}
	h := newHub(ctx, &p.settings)
	p.watchMachine(h)
	h.spawn(func() {
		p.startHosts(h, flags)
		// The dashboard opens on the render: other programs come after it.
		if err := h.discover(); err != nil && h.ctx.Err() == nil {
			h.note(local.MachineID, err.Error())
		}
	})
	watchLightly(true)
	return p.show(h)
}

func (p *program) sayHost(gpu, pid int) {
	fmt.Fprintf(p.out, "the render on GPU %d runs as process %d; watch it with: vramscope\n", gpu, pid)
}

// deviceOrder is how CUDA is to number the GPUs: as NVML and nvidia-smi do.
const deviceOrder = "CUDA_DEVICE_ORDER"

// findGPUs lists the GPUs, for which it loads the driver into this process. Only
// processes that own a render or end at once do so.
func findGPUs() ([]cuda.Device, error) {
	if _, chosen := os.LookupEnv(deviceOrder); !chosen {
		if err := os.Setenv(deviceOrder, "PCI_BUS_ID"); err != nil {
			return nil, err
		}
	}
	gpus, err := cuda.Devices()
	if err == nil && len(gpus) == 0 {
		err = errors.New("the driver lists no GPU: check CUDA_VISIBLE_DEVICES and nvidia-smi")
	}
	if err != nil {
		return nil, exitError{exitNothing, err}
	}
	return gpus, nil
}

// serveHost owns a GPU's context and renders there until it is done. ready says
// of the GPU that was found what is done once the render can be watched.
func serveHost(ctx context.Context, flags *hostFlags, surroundings local.Surroundings, ready func(cuda.Device) func(path string)) error {
	gpus, err := findGPUs()
	if err != nil {
		return err
	}
	gpu, err := chooseGPU(gpus, flags.gpu)
	if err != nil {
		return err
	}
	context, err := cuda.OpenWith(gpu.Ordinal, cuda.Options{ManagedBeyondFree: flags.oversized})
	if err != nil {
		return err
	}
	options := flags.options
	options.Device, err = local.NewGPU(context, local.GPUOptions{Memory: int64(flags.memory), Share: flags.share, Oversized: flags.oversized})
	if err != nil {
		return demoError(err)
	}
	surroundings.Version, surroundings.Ready = "vramscope "+version, ready(gpu)
	return demoError(local.Serve(ctx, options, surroundings))
}

// listedGPU is a GPU as `vramscope host --list --json` prints it.
type listedGPU struct {
	Ordinal int    `json:"ordinal"`
	UUID    string `json:"uuid"`
	Name    string `json:"name"`
	Total   int64  `json:"total_bytes"`
}

// listGPUs prints the GPUs.
func (p *program) listGPUs(asJSON bool) error {
	gpus, err := findGPUs()
	if err != nil {
		return err
	}
	if asJSON {
		rows := make([]listedGPU, len(gpus))
		for i, gpu := range gpus {
			rows[i] = listedGPU(gpu)
		}
		return p.printJSON(rows)
	}
	for _, gpu := range gpus {
		fmt.Fprintf(p.out, "%d  %s  %.1f GiB  %s\n", gpu.Ordinal, grid.Sanitize(gpu.UUID), float64(gpu.Total)/(1<<30), grid.Sanitize(gpu.Name))
	}
	return nil
}
