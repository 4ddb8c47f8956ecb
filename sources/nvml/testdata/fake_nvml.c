/*
 * A stand-in for the NVIDIA driver's libnvidia-ml.so.1, as much of it as is
 * called here. Tests compile it with -D flags that give it a fault:
 *
 *   GPUS=n            how many GPUs (1)
 *   NAME="..."        their name
 *   INIT_RESULT=n     what nvmlInit returns (0)
 *   V2_RESULT=n       what nvmlDeviceGetMemoryInfo_v2 returns (0)
 *   V1_RESULT=n       what nvmlDeviceGetMemoryInfo returns (0)
 *   OLD               leave out what old drivers do not have
 *   NO_INIT           leave out nvmlInit
 *   WIDE_RECORDS      processes in records of 32 bytes in place of 24
 *   MIG               the first GPU has one MIG device
 *
 * While it runs the test throws switches, each a file in the folder
 * $FAKE_NVML: hang-N holds the memory call of GPU N until it is gone, lost-N
 * loses GPU N, xid-N raises an Xid. The library itself leaves files there that
 * no test wants to find: early, a call before a successful nvmlInit, and
 * overlap, two calls to one GPU at a time.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef GPUS
#define GPUS 1
#endif
#ifndef NAME
#define NAME "NVIDIA H200"
#endif
#ifndef INIT_RESULT
#define INIT_RESULT 0
#endif
#ifndef V2_RESULT
#define V2_RESULT 0
#endif
#ifndef V1_RESULT
#define V1_RESULT 0
#endif

enum { OK = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, TIMEOUT = 10, LOST = 15 };

typedef struct device {
	int index;
	int part; /* a MIG device */
	atomic_int busy;
} *device;

static struct device gpus[] = {{0}, {1}, {2}, {3}};
static struct device part = {0, 1, 0};
static atomic_int started;

static const char *file(const char *name, int n, char path[4096])
{
	const char *folder = getenv("FAKE_NVML");
	snprintf(path, 4096, n < 0 ? "%s/%s" : "%s/%s-%d", folder ? folder : ".", name, n);
	return path;
}

static int switched(const char *name, int n)
{
	char path[4096];
	return access(file(name, n, path), F_OK) == 0;
}

static void complain(const char *name)
{
	char path[4096];
	FILE *f = fopen(file(name, -1, path), "w");
	if (f)
		fclose(f);
}

/* Every call to a device goes through this. */
static int enter(device d)
{
	if (!started)
		complain("early");
	if (atomic_fetch_add(&d->busy, 1) > 0)
		complain("overlap");
	return !d->part && switched("lost", d->index) ? LOST : OK;
}

static int leave(device d, int result)
{
	atomic_fetch_sub(&d->busy, 1);
	return result;
}

#define ANSWER(d, statements)      \
	int result = enter(d);     \
	if (result == OK) {        \
		statements;        \
	}                          \
	return leave(d, result)

#ifndef NO_INIT
int nvmlInit_v2(void)
{
	started = INIT_RESULT == OK;
	return INIT_RESULT;
}
#endif

int nvmlShutdown(void)
{
	started = 0;
	return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
	snprintf(text, length, "580.159.04");
	return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	if (!started)
		complain("early");
	*count = GPUS;
	return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device *d)
{
	if (!started)
		complain("early");
	if (switched("lost", index))
		return LOST;
	*d = &gpus[index];
	return OK;
}

int nvmlDeviceGetUUID(device d, char *text, unsigned length)
{
	ANSWER(d, snprintf(text, length, d->part ? "MIG-part-%d" : "GPU-fake-%d", d->index));
}

int nvmlDeviceGetName(device d, char *text, unsigned length)
{
	ANSWER(d, snprintf(text, length, d->part ? NAME " MIG 1g.18gb" : NAME));
}

int nvmlDeviceGetPciInfo_v3(device d, void *pci)
{
	struct { char legacy[16]; unsigned domain, bus, device, id, sub; char bus_id[32]; } *p = pci;
	ANSWER(d, p->domain = 0; p->bus = 0x3b + d->index; p->device = 0);
}

struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };

int nvmlDeviceGetMemoryInfo(device d, unsigned long long m[3])
{
	ANSWER(d, result = V1_RESULT; m[0] = 150754820096ull; m[1] = 150109880320ull; m[2] = 644939776ull);
}

#ifndef OLD
int nvmlDeviceGetMemoryInfo_v2(device d, struct memory_v2 *m)
{
	int result = enter(d);
	while (switched("hang", d->index))
		usleep(1000);
	if (result == OK && m->version != (sizeof *m | 2 << 24))
		result = 25;
	if (result == OK)
		result = V2_RESULT;
	if (result == OK) {
		m->total = d->part ? 19327352832ull : 150754820096ull;
		m->reserved = d->part ? 0 : 644939776ull;
		m->used = 1073741824ull;
		m->free = m->total - m->reserved - m->used;
	}
	return leave(d, result);
}

int nvmlDeviceGetPowerUsage(device d, unsigned *mw) { ANSWER(d, *mw = 310000); }
#endif

int nvmlDeviceGetUtilizationRates(device d, unsigned u[2])
{
	ANSWER(d, if (d->part) result = NOT_SUPPORTED; u[0] = 37; u[1] = 12);
}

int nvmlDeviceGetTemperature(device d, int sensor, unsigned *t) { (void)sensor; ANSWER(d, *t = 54); }
int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mw) { ANSWER(d, *mw = 700000); }
int nvmlDeviceGetClockInfo(device d, int kind, unsigned *mhz) { (void)kind; ANSWER(d, *mhz = 1980); }

int nvmlDeviceGetPcieThroughput(device d, int counter, unsigned *kb) { ANSWER(d, *kb = 1000 * (counter + 1)); }

struct process { unsigned pid; unsigned long long memory; unsigned instance, compute; };

/* This process, and two that do not exist. */
static int processes(device d, unsigned *count, struct process *list)
{
	unsigned long long room = *count;
	*count = d->part ? 1 : 3;
	if (room < *count)
		return TOO_SMALL;
	for (unsigned i = 0; i < *count; i++) {
		struct process p = {i ? 4194000 + i : (unsigned)getpid(), (i + 1) * 1073741824ull, ~0u, ~0u};
		if (d->part)
			p.instance = 9, p.compute = 0;
#ifdef WIDE_RECORDS
		memset((char *)list + 32 * i, 0, 32);
		memcpy((char *)list + 32 * i, &p, sizeof p);
#else
		list[i] = p;
#endif
	}
	return OK;
}

#ifdef OLD
int nvmlDeviceGetComputeRunningProcesses(device d, unsigned *count, void *list)
{
	struct { unsigned pid; unsigned long long memory; } *p = list;
	ANSWER(d, *count = 1; p->pid = getpid(); p->memory = 1073741824ull);
}
#else
int nvmlDeviceGetComputeRunningProcesses_v3(device d, unsigned *count, struct process *list)
{
	ANSWER(d, result = processes(d, count, list));
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(device d, unsigned *count, struct process *list)
{
	(void)list;
	ANSWER(d, *count = 0);
}
#endif

#ifdef MIG
int nvmlDeviceGetMigMode(device d, unsigned *now, unsigned *then) { ANSWER(d, *now = *then = d->index == 0); }
int nvmlDeviceGetMaxMigDeviceCount(device d, unsigned *count) { ANSWER(d, *count = 7); }

int nvmlDeviceGetMigDeviceHandleByIndex(device d, unsigned index, device *to)
{
	ANSWER(d, if (index != 2) result = NOT_FOUND; *to = &part);
}

int nvmlDeviceGetGpuInstanceId(device d, unsigned *id) { ANSWER(d, *id = 9); }
int nvmlDeviceGetComputeInstanceId(device d, unsigned *id) { ANSWER(d, *id = 0); }
#endif

struct event { device d; unsigned long long type, data; unsigned instance, compute; };

int nvmlDeviceGetSupportedEventTypes(device d, unsigned long long *types) { ANSWER(d, *types = 8 | 16); }

int nvmlEventSetCreate(void **set)
{
	*set = gpus;
	return OK;
}

int nvmlDeviceRegisterEvents(device d, unsigned long long types, void *set)
{
	(void)set;
	ANSWER(d, if (types & ~24ull) result = NOT_SUPPORTED);
}

int nvmlEventSetWait_v2(void *set, struct event *e, unsigned ms)
{
	(void)set;
	for (unsigned i = 0; i < ms; i++) {
		for (int n = 0; n < GPUS; n++) {
			char path[4096];
			if (switched("xid", n) && unlink(file("xid", n, path)) == 0) {
				*e = (struct event){&gpus[n], 8, 31, ~0u, ~0u};
				return OK;
			}
		}
		usleep(1000);
	}
	return TIMEOUT;
}

int nvmlEventSetFree(void *set)
{
	(void)set;
	return OK;
}
