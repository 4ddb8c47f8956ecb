package main

import (
	"context"
	"errors"
	"fmt"

	"vramscope/pool/cuda"
)

// doctorCUDA says whether `vramscope host` can run here. The driver is loaded
// by a process of its own, which makes no context.
func doctorCUDA(ctx context.Context, say func(good bool, what, how string)) {
	if !cuda.Included {
		say(false, "CUDA is not in this binary, so that `vramscope host` cannot run", cuda.ErrNotIncluded.Error())
		return
	}
	included := "CUDA is in this binary (headers " + cuda.Headers() + ")"
	gpus, err := askGPUs(ctx)
	var coded exitError
	if errors.As(err, &coded) {
		err = coded.cause
	}
	if err != nil {
		say(false, included+", and its driver cannot be used here", err.Error())
		return
	}
	for _, gpu := range gpus {
		say(true, fmt.Sprintf("%s, and `vramscope host --gpu %d` can use %s (%s)", included, gpu.Ordinal, gpu.Name, gpu.UUID), "")
	}
}
