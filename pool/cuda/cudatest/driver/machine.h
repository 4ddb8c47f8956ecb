/*
 * The machine that the stand-ins for libcuda and libnvidia-ml describe: what
 * its GPUs are comes from the environment, and how much each process holds of
 * them from a file that all processes map. What a dead process held is free.
 *
 * The environment (cudatest.go sets it):
 *   FAKE_CUDA_FOLDER    the folder of the state, the switches and the log
 *   FAKE_CUDA_DEVICES   how many GPUs (1)
 *   FAKE_CUDA_MEMORY    the bytes of each (8 GiB)
 *
 * A switch is a file in the folder that a test makes and removes while the
 * programs run: foreign-N holds as many bytes of GPU N as its text says, lost-N
 * loses GPU N, hold-free and hold-synchronize hold those calls until it is gone.
 */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_DEVICES = 8, MOST_PROCESSES = 64 };

typedef struct {
	atomic_int pid;
	atomic_llong used; /* bytes */
} holder;

typedef struct {
	holder holders[MOST_DEVICES][MOST_PROCESSES];
} machine;

static long long setting(const char *name, long long otherwise)
{
	const char *text = getenv(name);
	return text && *text ? atoll(text) : otherwise;
}

static int device_count(void) { return setting("FAKE_CUDA_DEVICES", 1); }
static long long device_memory(void) { return setting("FAKE_CUDA_MEMORY", 8LL << 30); }

static const char *in_folder(const char *name, int n, char path[4096])
{
	const char *folder = getenv("FAKE_CUDA_FOLDER");
	snprintf(path, 4096, n < 0 ? "%s/%s" : "%s/%s-%d", folder ? folder : ".", name, n);
	return path;
}

static int switched(const char *name, int n)
{
	char path[4096];
	return access(in_folder(name, n, path), F_OK) == 0;
}

static void hold_while(const char *name)
{
	char held[64], path[4096];
	if (!switched(name, -1))
		return;
	snprintf(held, sizeof held, "%s-holds", name);
	close(open(in_folder(held, -1, path), O_WRONLY | O_CREAT, 0600));
	while (switched(name, -1))
		usleep(500);
	unlink(in_folder(held, -1, path));
}

static machine *the_machine(void)
{
	static machine *mapped;
	char path[4096];
	if (mapped)
		return mapped;
	int file = open(in_folder("state", -1, path), O_RDWR | O_CREAT, 0600);
	if (file < 0 || ftruncate(file, sizeof *mapped))
		abort();
	mapped = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (mapped == MAP_FAILED)
		abort();
	return mapped;
}

/* A process that is a zombie holds nothing any more. */
static int alive(int pid)
{
	char path[64], text[512];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	int file = open(path, O_RDONLY);
	if (file < 0)
		return 0;
	ssize_t n = read(file, text, sizeof text - 1);
	close(file);
	text[n > 0 ? n : 0] = 0;
	const char *end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] != 'Z' && end[2] != 'X';
}

static long long foreign_bytes(int device)
{
	char path[4096], text[32] = "";
	int file = open(in_folder("foreign", device, path), O_RDONLY);
	if (file < 0)
		return 0;
	ssize_t n = read(file, text, sizeof text - 1);
	close(file);
	return n > 0 ? atoll(text) : 0;
}

static long long free_bytes(int device)
{
	long long left = device_memory() - foreign_bytes(device);
	for (int i = 0; i < MOST_PROCESSES; i++) {
		holder *h = &the_machine()->holders[device][i];
		int pid = h->pid;
		if (pid && alive(pid))
			left -= h->used;
	}
	return left > 0 ? left : 0;
}

static void device_uuid(int device, unsigned char bytes[16])
{
	static const unsigned char pattern[16] = {0xfa, 0xce, 0xca, 0xfe, 0, 0, 0x40, 0, 0x80};
	memcpy(bytes, pattern, 16);
	bytes[15] = device;
}

#endif
