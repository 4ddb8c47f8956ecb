package pool

import "syscall"

// mapAnonymous maps zeroed memory that the operating system fills in page by
// page when it is touched, so that a segment costs what is used of it.
func mapAnonymous(bytes int64) ([]byte, error) {
	return syscall.Mmap(-1, 0, int(bytes), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
}

// unmapAnonymous gives the memory back at once, not when a collector runs.
func unmapAnonymous(memory []byte) error { return syscall.Munmap(memory) }
