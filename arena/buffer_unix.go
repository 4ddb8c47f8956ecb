//go:build linux || darwin || freebsd || netbsd || openbsd

package arena

import "syscall"

// probeHost maps as much as the Go runtime is about to and lets go of it
// again. The kernel decides both by one rule, and only this one can be refused
// without ending the process. No page is touched.
func probeHost(bytes int64) error {
	mapping, err := syscall.Mmap(-1, 0, int(bytes),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return syscall.Munmap(mapping)
}
