// Package cuda is device memory: a Context is a pool.Upstream over one NVIDIA
// GPU. It is the only package that knows gorgonia.org/cu.
//
// It is in the binary with the build tag cuda, on Linux with cgo, and needs
// CUDA's headers then; without the tag it compiles all the same and says that
// it is not included. In both cases nothing of CUDA is needed to start: the
// driver is loaded by the first call of Devices or Open.
//
// Each Context has a worker, one goroutine on one operating system thread, where
// the device's primary context is current. All calls of the driver are made
// there, one after the other: a call returns when the worker has made it.
package cuda
