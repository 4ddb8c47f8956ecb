// Package nvml watches NVIDIA GPUs through the driver's own library (NVML),
// by way of github.com/NVIDIA/go-nvml: memory, the processes that hold it,
// load, temperature, power and faults.
//
// A Watcher runs one goroutine per GPU and hands what it learns to a Receiver.
// Nothing that can happen to a driver ends the program: no library, no kernel
// driver, versions that do not fit, missing rights, a lost GPU, a GPU that is
// asleep and a call that never returns are each a State with NVML's code, its
// name and a sentence that says what to do.
//
// # Symbols
//
// go-nvml binds the library's functions lazily: a call of one that the
// installed driver does not have ends the whole process with "symbol lookup
// error" and exit code 127, with no chance to restore the terminal. So every
// symbol is looked up once after Init, and a wrapper whose symbol is missing
// answers FUNCTION_NOT_FOUND instead of calling. No call is made before Init
// has succeeded, or after it has failed.
//
// This works only while the loader binds lazily. A binary linked with
// `-z now`, or any binary started with LD_BIND_NOW=1 in its environment, dies
// before main on every machine whose driver lacks a single function of
// go-nvml's header (on a machine without a driver: always), and no code of
// ours runs that could say so. A test reads that our binary does not ask for
// it. Where a distribution's compiler asks for it by default, build with
// CGO_LDFLAGS="-O2 -g -Wl,-z,lazy"; start vramscope with LD_BIND_NOW unset.
//
// # Calls that hang
//
// A call into the driver cannot be cancelled. When one takes longer than a
// second its GPU is marked as not answering and the others go on; no second
// call is made to that GPU until the first returns. Run never waits for such
// a call: its goroutine, with its operating system thread, stays in the
// driver until the call returns or the process ends, and so does NVML itself,
// which is shut down by whichever call returns last. (A call that the kernel
// does not let a signal interrupt keeps the process from ending, too: by then
// the terminal is restored.)
//
// One Watcher may run in a process at a time: NVML's state and go-nvml's
// table of functions belong to the process.
package nvml
