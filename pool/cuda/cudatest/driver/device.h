/*
 * What a process keeps of each GPU: its blocks, the default pool's figures, and
 * whether the GPU is lost. For the one file that includes it.
 */
#ifndef FAKE_DEVICE_H
#define FAKE_DEVICE_H

#include "machine.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>

enum {
	OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, DEVICE_UNAVAILABLE = 46, INVALID_DEVICE = 101,
	INVALID_CONTEXT = 201, INVALID_HANDLE = 400, ILLEGAL_ADDRESS = 700, NOT_SUPPORTED = 801
};

#define GRAIN (2LL << 20)      /* of plain memory */
#define POOL_GRAIN (32LL << 20) /* of the default pool */

typedef unsigned long long address;
typedef struct device device;

typedef struct block {
	struct block *next;
	address at;
	long long bytes;
	enum { PLAIN, MANAGED, POOLED, FREED } kind; /* FREED: in a stream's order, and no wait since */
	int resident;
} block;

struct device {
	int index, retained, lost;
	long long calls;
	block *blocks;
	long long reserved, reserved_peak, used, used_peak; /* of the default pool */
	holder *books;
};

typedef struct { device *of; int number; } stream;
typedef struct { device *of; int recorded; } event;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static device devices[MOST_DEVICES];
static int initialized, streams, events;
static __thread device *current;

static int note(int result, const char *format, ...)
{
	if (!setting("FAKE_CUDA_LOG", 0))
		return result;
	char path[4096], line[256];
	va_list arguments;
	va_start(arguments, format);
	int n = vsnprintf(line, sizeof line - 16, format, arguments);
	va_end(arguments);
	n += snprintf(line + n, 16, " -> %d\n", result);
	int file = open(in_folder("calls", -1, path), O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (file >= 0) {
		if (write(file, line, n) != n)
			abort();
		close(file);
	}
	return result;
}

static long long up(long long bytes, long long grain) { return (bytes + grain - 1) / grain * grain; }

/* Tells the machine what this process holds; small blocks share a grain. */
static void settle(device *d)
{
	long long small = 0, total = d->reserved;
	for (block *b = d->blocks; b; b = b->next) {
		if (b->kind > MANAGED || b->kind == MANAGED && !b->resident)
			continue;
		if (b->bytes < GRAIN / 2)
			small += up(b->bytes, 512);
		else
			total += up(b->bytes, GRAIN);
	}
	if (d->retained)
		total += setting("FAKE_CUDA_CONTEXT", 512LL << 20);
	d->books->used = total + up(small, GRAIN);
}

static int claim_books(device *d)
{
	machine *m = the_machine();
	int self = getpid();
	for (int i = 0; i < MOST_PROCESSES; i++) {
		holder *h = &m->holders[d->index][i];
		int pid = h->pid;
		if (pid != self && (pid == 0 || !alive(pid))) {
			if (!atomic_compare_exchange_strong(&h->pid, &pid, self))
				continue;
			h->used = 0;
		} else if (pid != self)
			continue;
		d->books = h;
		return OK;
	}
	return OUT_OF_MEMORY;
}

/* Every call on a context begins here. */
static int enter(void)
{
	device *d = current;
	if (!d)
		return INVALID_CONTEXT;
	long long after = setting("FAKE_CUDA_LOST_AFTER", 0);
	if (!d->lost && (switched("lost", d->index) || after && ++d->calls > after))
		d->lost = setting("FAKE_CUDA_LOST_CODE", ILLEGAL_ADDRESS);
	return d->lost;
}

static block **find(device *d, address at)
{
	block **b = &d->blocks;
	while (*b && (*b)->at != at)
		b = &(*b)->next;
	return b;
}

static int covered(device *d, address from, unsigned long long bytes)
{
	for (block *b = d->blocks; b; b = b->next)
		if (b->kind != FREED && from >= b->at && from - b->at <= (address)b->bytes &&
		    bytes <= b->at + b->bytes - from)
			return 1;
	return 0;
}

static int new_block(device *d, address *at, long long bytes, int kind)
{
	if (bytes <= 0)
		return INVALID_VALUE;
	void *memory = bytes > 1LL << 46 ? MAP_FAILED
		: mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return OUT_OF_MEMORY;
	block *b = calloc(1, sizeof *b);
	*b = (block){d->blocks, (address)(uintptr_t)memory, bytes, kind, kind != MANAGED};
	d->blocks = b;
	*at = b->at;
	return OK;
}

static void drop(block **b)
{
	block *gone = *b;
	*b = gone->next;
	munmap((void *)(uintptr_t)gone->at, gone->bytes);
	free(gone);
}

#endif
