/*
 * A stand-in for libnvidia-ml.so.1 that sees the same machine as the stand-in for
 * libcuda.so.1 beside it: the same GPUs, and who holds how much of them.
 */
#include "machine.h"

enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15 };

typedef struct { int index; } gpu;

static gpu gpus[MOST_DEVICES];
static atomic_int opened;

int nvmlInit_v2(void)
{
	opened++;
	for (int i = 0; i < MOST_DEVICES; i++)
		gpus[i].index = i;
	return OK;
}

int nvmlInit(void) { return nvmlInit_v2(); }

int nvmlShutdown(void)
{
	if (opened <= 0)
		return UNINITIALIZED;
	opened--;
	return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned room)
{
	snprintf(text, room, "580.159.04");
	return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = device_count();
	return opened ? OK : UNINITIALIZED;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, gpu **g)
{
	if (index >= (unsigned)device_count())
		return INVALID_ARGUMENT;
	*g = &gpus[index];
	return switched("lost", index) ? LOST : OK;
}

int nvmlDeviceGetUUID(gpu *g, char *text, unsigned room)
{
	unsigned char u[16];
	device_uuid(g->index, u);
	snprintf(text, room, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2],
		 u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	return OK;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, gpu **g)
{
	for (int i = 0; i < device_count(); i++) {
		char text[96];
		nvmlDeviceGetUUID(&gpus[i], text, sizeof text);
		if (strcmp(text, uuid) == 0) {
			*g = &gpus[i];
			return OK;
		}
	}
	return NOT_FOUND;
}

int nvmlDeviceGetName(gpu *g, char *text, unsigned room)
{
	snprintf(text, room, "Stand-in GPU %d", g->index);
	return OK;
}

int nvmlDeviceGetPciInfo_v3(gpu *g, void *pci)
{
	struct { char legacy[16]; unsigned domain, bus, device, id, sub; char bus_id[32]; } *p = pci;
	memset(p, 0, sizeof *p);
	p->bus = 0x3b + g->index;
	return OK;
}

int nvmlDeviceGetMemoryInfo(gpu *g, unsigned long long total_free_used[3])
{
	if (switched("lost", g->index))
		return LOST;
	total_free_used[0] = device_memory();
	total_free_used[1] = free_bytes(g->index);
	total_free_used[2] = total_free_used[0] - total_free_used[1];
	return OK;
}

struct memory_v2 { unsigned version; unsigned long long total, reserved, free, used; };

int nvmlDeviceGetMemoryInfo_v2(gpu *g, struct memory_v2 *m)
{
	unsigned long long v1[3];
	int result = nvmlDeviceGetMemoryInfo(g, v1);
	if (result == OK)
		*m = (struct memory_v2){m->version, v1[0], 0, v1[1], v1[2]};
	return result;
}

int nvmlDeviceGetUtilizationRates(gpu *g, unsigned u[2])
{
	(void)g;
	u[0] = u[1] = 0;
	return OK;
}

int nvmlDeviceGetTemperature(gpu *g, int sensor, unsigned *celsius)
{
	(void)g, (void)sensor;
	*celsius = 40;
	return OK;
}

int nvmlDeviceGetPowerUsage(gpu *g, unsigned *milliwatts)
{
	(void)g;
	*milliwatts = 75000;
	return OK;
}

struct process { unsigned pid; unsigned long long memory; unsigned instance, compute; };

int nvmlDeviceGetComputeRunningProcesses_v3(gpu *g, unsigned *count, struct process *list)
{
	unsigned room = *count, found = 0;
	for (int i = 0; i < MOST_PROCESSES; i++) {
		holder *h = &the_machine()->holders[g->index][i];
		int pid = h->pid;
		if (!pid || h->used == 0 || !alive(pid))
			continue;
		if (found < room)
			list[found] = (struct process){pid, h->used, ~0u, ~0u};
		found++;
	}
	*count = found;
	return found > room ? TOO_SMALL : OK;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(gpu *g, unsigned *count, struct process *list)
{
	(void)g, (void)list;
	*count = 0;
	return OK;
}
