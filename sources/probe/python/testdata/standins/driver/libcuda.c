// A CUDA driver without a GPU: as much of one as the probe may ask, with memory
// that the stand-ins of the libraries take and give back. It counts the contexts
// that were made by asking, of which there must be none.
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define DEVICES 2
#define POOL(ordinal) ((void *)(uintptr_t)(0x1000 + (ordinal)))
#define CONTEXT(ordinal) ((void *)(uintptr_t)(0x2000 + (ordinal)))

enum { OK = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, INVALID_DEVICE = 101, INVALID_CONTEXT = 201 };

static struct device {
	uint64_t total, used;
	int active;
	uint64_t reserved, reserved_high, pool_used, pool_used_high;
} devices[DEVICES];
static int initialised, owner, count, contexts_made, waits;
static __thread void *stack[8];
static __thread int depth;

// A CUDA graph is being captured in the mode that torch's have by default: a
// call about a memory pool fails and spoils it, whatever thread makes it, unless
// the thread is a relaxed one. Waiting for the device always does. The others
// were seen to be harmless (h200/captures.txt).
enum { RELAXED = 2, CAPTURE_UNSUPPORTED = 900 };
static int captures, spoilt;
static __thread int capture_mode;

static int spoils(int unless) {
	if (!captures || (unless && capture_mode == RELAXED)) return OK;
	spoilt++;
	return CAPTURE_UNSUPPORTED;
}

// A child that was forked later cannot use the driver, as with the real one.
static int usable(void) { return initialised && owner == getpid(); }

// What the stand-ins call.

int fake_forked(void) { return initialised && !usable(); }

void fake_init(int n, uint64_t total) {
	initialised = 1;
	owner = getpid();
	count = n;
	for (int i = 0; i < n; i++) devices[i].total = total;
}
void fake_activate(int i) {
	devices[i].active = 1;
	if (depth == 0) stack[depth++] = CONTEXT(i);
}
int fake_take(int i, uint64_t bytes) {
	if (devices[i].used + bytes > devices[i].total) return 2;
	devices[i].used += bytes;
	return OK;
}
void fake_give(int i, uint64_t bytes) { devices[i].used -= bytes; }
uint64_t fake_free(int i) { return devices[i].total - devices[i].used; }
int fake_contexts_made(void) { return contexts_made; }
int fake_waits(void) { return waits; }
void fake_capture(int on) { captures = on; }
int fake_spoilt(void) { return spoilt; }
int fake_capture_mode(void) { return capture_mode; }

// The pool takes from the device in steps of 32 MiB.
int fake_pool_alloc(int i, uint64_t bytes) {
	struct device *d = &devices[i];
	if (d->pool_used + bytes > d->reserved) {
		uint64_t more = ((d->pool_used + bytes - d->reserved) + (32 << 20) - 1) / (32 << 20) * (32 << 20);
		if (fake_take(i, more)) return 2;
		d->reserved += more;
		if (d->reserved > d->reserved_high) d->reserved_high = d->reserved;
	}
	d->pool_used += bytes;
	if (d->pool_used > d->pool_used_high) d->pool_used_high = d->pool_used;
	return OK;
}
void fake_pool_free(int i, uint64_t bytes) { devices[i].pool_used -= bytes; }

// What the probe calls.

static int bad(int i) { return !usable() ? NOT_INITIALIZED : i < 0 || i >= count ? INVALID_DEVICE : OK; }

int cuDeviceGetCount(int *n) {
	if (!usable()) return NOT_INITIALIZED;
	*n = count;
	return OK;
}
int cuDeviceGetUuid(unsigned char *uuid, int i) {
	if (bad(i)) return bad(i);
	memset(uuid, 0x30 + i, 16);
	return OK;
}
int cuDeviceGetUuid_v2(unsigned char *uuid, int i) { return cuDeviceGetUuid(uuid, i); }
int cuDeviceGetName(char *name, int size, int i) {
	if (bad(i)) return bad(i);
	strncpy(name, "Fake H200", size);
	return OK;
}
int cuDevicePrimaryCtxGetState(int i, unsigned *flags, int *active) {
	if (bad(i)) return bad(i);
	*flags = 0;
	*active = devices[i].active;
	return OK;
}
int cuDevicePrimaryCtxRetain(void **context, int i) {
	if (bad(i)) return bad(i);
	if (!devices[i].active) contexts_made++;
	devices[i].active = 1;
	*context = CONTEXT(i);
	return OK;
}
int cuDevicePrimaryCtxRelease_v2(int i) { return bad(i); }
int cuCtxGetCurrent(void **context) {
	if (!usable()) return NOT_INITIALIZED;
	*context = depth ? stack[depth - 1] : NULL;
	return OK;
}
int cuCtxGetDevice(int *i) {
	if (!usable()) return NOT_INITIALIZED;
	if (!depth) return INVALID_CONTEXT;
	*i = (int)((uintptr_t)stack[depth - 1] - 0x2000);
	return OK;
}
int cuCtxPushCurrent_v2(void *context) {
	if (depth == 8) return INVALID_VALUE;
	stack[depth++] = context;
	return OK;
}
int cuCtxPopCurrent_v2(void **context) {
	if (!depth) return INVALID_CONTEXT;
	*context = stack[--depth];
	return OK;
}
int cuThreadExchangeStreamCaptureMode(int *mode) {
	int before = capture_mode;
	if (!usable()) return NOT_INITIALIZED;
	if (*mode < 0 || *mode > RELAXED) return INVALID_VALUE;
	capture_mode = *mode;
	*mode = before;
	return OK;
}
int cuCtxSynchronize(void) {
	if (!usable()) return NOT_INITIALIZED;
	if (spoils(0)) return CAPTURE_UNSUPPORTED;
	waits++;
	return depth ? OK : INVALID_CONTEXT;
}
int cuMemGetInfo_v2(size_t *available, size_t *total) {
	int i;
	if (cuCtxGetDevice(&i)) return INVALID_CONTEXT;
	*available = fake_free(i);
	*total = devices[i].total;
	return OK;
}
int cuDeviceGetDefaultMemPool(void **pool, int i) {
	if (bad(i)) return bad(i);
	*pool = POOL(i);
	return OK;
}
static uint64_t *attribute(void *pool, int name) {
	struct device *d = &devices[(uintptr_t)pool - 0x1000];
	switch (name) {
	case 5: return &d->reserved;
	case 6: return &d->reserved_high;
	case 7: return &d->pool_used;
	case 8: return &d->pool_used_high;
	}
	return NULL;
}
int cuMemPoolGetAttribute(void *pool, int name, uint64_t *value) {
	uint64_t *found = attribute(pool, name);
	if (!usable()) return NOT_INITIALIZED;
	if (spoils(1)) return CAPTURE_UNSUPPORTED;
	if (!found) return INVALID_VALUE;
	*value = *found;
	return OK;
}
int cuMemPoolSetAttribute(void *pool, int name, uint64_t *value) {
	uint64_t *found = attribute(pool, name);
	if (!usable()) return NOT_INITIALIZED;
	if (spoils(1)) return CAPTURE_UNSUPPORTED;
	if (!found || *value || (name != 6 && name != 8)) return INVALID_VALUE;
	*found = *attribute(pool, name - 1);
	return OK;
}
int cuMemPoolTrimTo(void *pool, size_t keep) {
	struct device *d = &devices[(uintptr_t)pool - 0x1000];
	if (!usable()) return NOT_INITIALIZED;
	if (spoils(1)) return CAPTURE_UNSUPPORTED;
	uint64_t left = (d->pool_used + (32 << 20) - 1) / (32 << 20) * (32 << 20);
	if (left < keep) left = keep;
	if (left < d->reserved) {
		d->used -= d->reserved - left;
		d->reserved = left;
	}
	return OK;
}
