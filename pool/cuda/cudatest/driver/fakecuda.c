/*
 * A stand-in for the NVIDIA driver's libcuda.so.1, as much of it as is called
 * here. Device memory is memory of the process; streams do their work at once,
 * except that what was freed in a stream's order goes back at the next wait.
 * machine.h has the machine; besides, from the environment:
 *
 *   FAKE_CUDA_CONTEXT       bytes that a context takes (512 MiB)
 *   FAKE_CUDA_INIT          what cuInit returns (0)
 *   FAKE_CUDA_MANAGED       0: no managed memory; 1: none beside the processor (2)
 *   FAKE_CUDA_LOST_AFTER    the call on a context that loses the device (0: none)
 *   FAKE_CUDA_LOST_CODE     what every call returns from then on (700)
 *   FAKE_CUDA_SLOW_FREE     milliseconds that cuMemFree takes (0)
 *   FAKE_CUDA_SLOW_SYNCHRONIZE   and a wait for the device (0)
 *   FAKE_CUDA_LOG           1: every call is a line of the file calls
 */
#define _GNU_SOURCE
#include "device.h"

int cuInit(unsigned flags)
{
	(void)flags;
	int result = setting("FAKE_CUDA_INIT", 0);
	for (int i = 0; i < MOST_DEVICES; i++)
		devices[i].index = i;
	initialized = result == OK;
	return note(result, "cuInit");
}

int cuGetErrorName(int code, const char **name)
{
	static const struct { int code; const char *name; } names[] = {
		{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
		{NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"}, {DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
		{100, "CUDA_ERROR_NO_DEVICE"}, {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
		{INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"}, {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
		{ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].code == code) {
			*name = names[i].name;
			return OK;
		}
	*name = NULL;
	return INVALID_VALUE;
}

int cuDeviceGetCount(int *count)
{
	*count = device_count();
	return note(initialized ? OK : NOT_INITIALIZED, "cuDeviceGetCount");
}

int cuDeviceGet(int *d, int ordinal)
{
	*d = ordinal;
	int found = ordinal >= 0 && ordinal < device_count() && ordinal < MOST_DEVICES;
	return note(!initialized ? NOT_INITIALIZED : found ? OK : INVALID_DEVICE, "cuDeviceGet %d", ordinal);
}

int cuDeviceGetName(char *name, int room, int d)
{
	snprintf(name, room, "Stand-in GPU %d", d);
	return OK;
}

int cuDeviceGetUuid(unsigned char uuid[16], int d)
{
	device_uuid(d, uuid);
	return OK;
}

int cuDeviceGetUuid_v2(unsigned char uuid[16], int d) { return cuDeviceGetUuid(uuid, d); }

int cuDeviceTotalMem_v2(size_t *bytes, int d)
{
	(void)d;
	*bytes = device_memory();
	return OK;
}

int cuDeviceGetAttribute(int *value, int attribute, int d)
{
	long long managed = setting("FAKE_CUDA_MANAGED", 2);
	(void)d;
	*value = attribute == 83 ? managed > 0 : attribute == 89 ? managed > 1 : 1;
	return OK;
}

int cuDevicePrimaryCtxRetain(device **context, int index)
{
	pthread_mutex_lock(&lock);
	device *d = &devices[index];
	int result = d->lost || switched("lost", index) ? DEVICE_UNAVAILABLE : OK;
	if (result == OK && !d->books)
		result = claim_books(d);
	if (result == OK && !d->retained && free_bytes(index) < setting("FAKE_CUDA_CONTEXT", 512LL << 20))
		result = OUT_OF_MEMORY;
	if (result == OK) {
		d->retained++;
		settle(d);
		*context = d;
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuDevicePrimaryCtxRetain %d", index);
}

int cuDevicePrimaryCtxRelease_v2(int index)
{
	pthread_mutex_lock(&lock);
	device *d = &devices[index];
	int result = d->retained ? OK : INVALID_CONTEXT;
	if (result == OK && --d->retained == 0)
		while (d->blocks)
			drop(&d->blocks);
	if (result == OK && d->retained == 0)
		d->reserved = d->used = 0;
	if (result == OK)
		settle(d);
	if (result == OK)
		result = d->lost;
	pthread_mutex_unlock(&lock);
	return note(result, "cuDevicePrimaryCtxRelease %d", index);
}

int cuCtxSetCurrent(device *context)
{
	current = context;
	return note(OK, "cuCtxSetCurrent %d", context ? context->index : -1);
}

/* Waits. What was freed in a stream's order goes back, and what the default
 * pool keeps unused with it: its threshold is 0. */
static int synchronize(void)
{
	hold_while("hold-synchronize");
	usleep(1000 * setting("FAKE_CUDA_SLOW_SYNCHRONIZE", 0));
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		for (block **b = &current->blocks; *b;)
			if ((*b)->kind == FREED)
				drop(b);
			else
				b = &(*b)->next;
		current->reserved = up(current->used, POOL_GRAIN);
		settle(current);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

int cuCtxSynchronize(void) { return note(synchronize(), "cuCtxSynchronize"); }

int cuMemGetInfo_v2(size_t *free, size_t *total)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		*free = free_bytes(current->index);
		*total = device_memory();
	}
	pthread_mutex_unlock(&lock);
	return result;
}

static int allocate(address *at, size_t bytes, int kind)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK && kind == PLAIN && up(bytes, bytes < GRAIN / 2 ? 512 : GRAIN) > free_bytes(current->index))
		result = OUT_OF_MEMORY;
	if (result == OK)
		result = new_block(current, at, bytes, kind);
	if (result == OK)
		settle(current);
	pthread_mutex_unlock(&lock);
	return result;
}

int cuMemAlloc_v2(address *at, size_t bytes) { return note(allocate(at, bytes, PLAIN), "cuMemAlloc %zu", bytes); }

int cuMemAllocManaged(address *at, size_t bytes, unsigned flags)
{
	(void)flags;
	return note(allocate(at, bytes, MANAGED), "cuMemAllocManaged %zu", bytes);
}

int cuMemPrefetchAsync(address at, size_t bytes, int to, stream *s)
{
	(void)to, (void)s;
	pthread_mutex_lock(&lock);
	int result = enter();
	block *b = result == OK ? *find(current, at) : NULL;
	if (result == OK && (!b || b->kind != MANAGED))
		result = INVALID_VALUE;
	if (result == OK && !b->resident) {
		b->resident = 1;
		settle(current);
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuMemPrefetchAsync %zu", bytes);
}

int cuMemFree_v2(address at)
{
	hold_while("hold-free");
	usleep(1000 * setting("FAKE_CUDA_SLOW_FREE", 0));
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		block **b = find(current, at);
		if (!*b || (*b)->kind == FREED)
			result = INVALID_VALUE;
		else {
			if ((*b)->kind == POOLED)
				current->used -= (*b)->bytes;
			drop(b);
			settle(current);
		}
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuMemFree");
}

/* Work on memory that is not there is found when it is done, and is the end. */
static int touch(address to, address from, size_t bytes, int value)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK && (!covered(current, to, bytes) || from && !covered(current, from, bytes)))
		result = current->lost = ILLEGAL_ADDRESS;
	if (result == OK && from)
		memmove((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	else if (result == OK)
		memset((void *)(uintptr_t)to, value, bytes);
	pthread_mutex_unlock(&lock);
	return result;
}

static int number(stream *s) { return s ? s->number : 0; }

int cuMemsetD8Async(address at, unsigned char value, size_t bytes, stream *s)
{
	return note(touch(at, 0, bytes, value), "cuMemsetD8Async %zu on %d", bytes, number(s));
}

int cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, stream *s)
{
	return note(touch(to, from, bytes, 0), "cuMemcpyDtoDAsync %zu on %d", bytes, number(s));
}

static int transfer(address at, void *memory, size_t bytes, int in)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK && !covered(current, at, bytes))
		result = INVALID_VALUE;
	if (result == OK)
		memcpy(in ? (void *)(uintptr_t)at : memory, in ? memory : (void *)(uintptr_t)at, bytes);
	pthread_mutex_unlock(&lock);
	return result;
}

int cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
	return note(transfer(to, (void *)from, bytes, 1), "cuMemcpyHtoD %zu", bytes);
}

int cuMemcpyDtoH_v2(void *to, address from, size_t bytes)
{
	return note(transfer(from, to, bytes, 0), "cuMemcpyDtoH %zu", bytes);
}

int cuStreamCreate(stream **s, unsigned flags)
{
	(void)flags;
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		*s = calloc(1, sizeof **s);
		**s = (stream){current, ++streams};
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuStreamCreate %d", result == OK ? (*s)->number : 0);
}

int cuStreamDestroy_v2(stream *s)
{
	int result = note(OK, "cuStreamDestroy %d", number(s));
	free(s);
	return result;
}

int cuStreamSynchronize(stream *s) { return note(synchronize(), "cuStreamSynchronize %d", number(s)); }

int cuEventCreate(event **e, unsigned flags)
{
	(void)flags;
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		*e = calloc(1, sizeof **e);
		(*e)->of = current;
		events++;
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuEventCreate");
}

int cuEventDestroy_v2(event *e)
{
	free(e);
	return note(OK, "cuEventDestroy");
}

int cuEventRecord(event *e, stream *s)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK && e->of != current)
		result = INVALID_HANDLE;
	if (result == OK)
		e->recorded = 1;
	pthread_mutex_unlock(&lock);
	return note(result, "cuEventRecord on %d", number(s));
}

int cuStreamWaitEvent(stream *s, event *e, unsigned flags)
{
	(void)flags;
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK && !e->recorded)
		result = INVALID_HANDLE;
	pthread_mutex_unlock(&lock);
	return note(result, "cuStreamWaitEvent on %d", number(s));
}

int cuDeviceGetDefaultMemPool(device **pool, int d)
{
	*pool = &devices[d];
	return OK;
}

static long long *attribute(device *pool, int number)
{
	switch (number) {
	case 5: return &pool->reserved;
	case 6: return &pool->reserved_peak;
	case 7: return &pool->used;
	case 8: return &pool->used_peak;
	default: return NULL;
	}
}

int cuMemPoolGetAttribute(device *pool, int which, unsigned long long *value)
{
	pthread_mutex_lock(&lock);
	long long *figure = attribute(pool, which);
	if (figure)
		*value = *figure;
	pthread_mutex_unlock(&lock);
	return figure ? OK : INVALID_VALUE;
}

int cuMemPoolSetAttribute(device *pool, int which, unsigned long long *value)
{
	int high = which == 6 || which == 8;
	if (!high || *value != 0)
		return note(INVALID_VALUE, "cuMemPoolSetAttribute %d", which);
	pthread_mutex_lock(&lock);
	*attribute(pool, which) = *attribute(pool, which - 1);
	pthread_mutex_unlock(&lock);
	return note(OK, "cuMemPoolSetAttribute %d", which);
}

/* What was freed and not waited for is still in use to the pool. */
int cuMemPoolTrimTo(device *pool, size_t keep)
{
	pthread_mutex_lock(&lock);
	long long backed = pool->used;
	for (block *b = pool->blocks; b; b = b->next)
		if (b->kind == FREED)
			backed += b->bytes;
	if (backed < (long long)keep)
		backed = keep;
	if (up(backed, POOL_GRAIN) < pool->reserved)
		pool->reserved = up(backed, POOL_GRAIN);
	if (pool->books)
		settle(pool);
	pthread_mutex_unlock(&lock);
	return note(OK, "cuMemPoolTrimTo %zu", keep);
}

int cuMemAllocAsync(address *at, size_t bytes, stream *s)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		device *d = current;
		long long grow = up(d->used + bytes, POOL_GRAIN) - d->reserved;
		if (grow > free_bytes(d->index))
			result = OUT_OF_MEMORY;
		else
			result = new_block(d, at, bytes, POOLED);
		if (result == OK) {
			d->used += bytes;
			d->reserved += grow > 0 ? grow : 0;
			if (d->used > d->used_peak)
				d->used_peak = d->used;
			if (d->reserved > d->reserved_peak)
				d->reserved_peak = d->reserved;
			settle(d);
		}
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuMemAllocAsync %zu on %d", bytes, number(s));
}

int cuMemFreeAsync(address at, stream *s)
{
	pthread_mutex_lock(&lock);
	int result = enter();
	if (result == OK) {
		block *b = *find(current, at);
		if (!b || b->kind != POOLED)
			result = INVALID_VALUE;
		else {
			b->kind = FREED;
			current->used -= b->bytes;
		}
	}
	pthread_mutex_unlock(&lock);
	return note(result, "cuMemFreeAsync on %d", number(s));
}
