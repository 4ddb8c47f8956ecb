//go:build cuda && linux && cgo

#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define TEXT(symbol) #symbol
#define NAME(symbol) TEXT(symbol) /* as cuda.h maps it: cuMemAlloc_v2 */

/*
 * Every entry point that Go code here reaches through gorgonia.org/cu. They are
 * bound when they are first called, and a missing one would end the program
 * then: so all are looked up before.
 */
static const char *const needed[] = {
	NAME(cuDeviceGet), NAME(cuDeviceGetCount), NAME(cuDeviceGetName), NAME(cuDeviceGetUuid),
	NAME(cuDeviceTotalMem), NAME(cuDeviceGetAttribute), NAME(cuDevicePrimaryCtxRetain),
	NAME(cuDevicePrimaryCtxRelease), NAME(cuCtxSetCurrent), NAME(cuCtxSynchronize), NAME(cuMemGetInfo),
	NAME(cuMemAlloc), NAME(cuMemAllocManaged), NAME(cuMemFree), NAME(cuMemPrefetchAsync),
	NAME(cuMemsetD8Async), NAME(cuMemcpyDtoDAsync), NAME(cuMemcpyHtoD), NAME(cuMemcpyDtoH),
	NAME(cuStreamCreate), NAME(cuStreamDestroy), NAME(cuStreamSynchronize), NAME(cuStreamWaitEvent),
	NAME(cuEventCreate), NAME(cuEventDestroy), NAME(cuEventRecord),
};

static void *library;
static const char *library_name;

static CUresult (*real_init)(unsigned int);
static CUresult (*real_error_name)(CUresult, const char **);

/* The types are those of cuda.h since 11.2, written so that an older one serves. */
static CUresult (*get_default_pool)(void **, CUdevice);
static CUresult (*pool_get)(void *, int, void *);
static CUresult (*pool_set)(void *, int, void *);
static CUresult (*pool_trim)(void *, size_t);
static CUresult (*alloc_async)(CUdeviceptr *, size_t, CUstream);
static CUresult (*free_async)(CUdeviceptr, CUstream);

/*
 * gorgonia.org/cu calls this before main and ends the program where it fails.
 * Until the driver is asked for there is nothing that could fail.
 */
CUresult CUDAAPI cuInit(unsigned int flags)
{
	return real_init ? real_init(flags) : CUDA_SUCCESS;
}

static int open_library(char *why, size_t room)
{
	static const char *const names[] = {
		"libcuda.so.1",
		"/usr/lib/wsl/lib/libcuda.so.1",
		"/run/opengl-driver/lib/libcuda.so.1",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		/* GLOBAL: the calls of gorgonia.org/cu are bound from it. LAZY: none before. */
		library = dlopen(names[i], RTLD_LAZY | RTLD_GLOBAL);
		if (library) {
			library_name = names[i];
			return 0;
		}
		const char *reason = dlerror();
		if (i == 0)
			snprintf(why, room, "%s", reason ? reason : "dlopen failed");
	}
	return VRAMSCOPE_CUDA_NO_LIBRARY;
}

static int check_symbols(char *why, size_t room)
{
	size_t used = 0;
	int missing = 0;
	for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
		if (dlsym(library, needed[i]))
			continue;
		missing = 1;
		int n = snprintf(why + used, room - used, "%s%s", used ? " " : "", needed[i]);
		if (n > 0 && (size_t)n < room - used)
			used += n;
	}
	return missing ? VRAMSCOPE_CUDA_MISSING_SYMBOLS : 0;
}

int vramscope_cuda_load(char *why, size_t room)
{
	why[0] = 0;
	if (!library) {
		int result = open_library(why, room);
		if (result)
			return result;
	}
	CUresult (*init)(unsigned int) = (CUresult (*)(unsigned int))dlsym(library, "cuInit");
	if (!init) {
		snprintf(why, room, "cuInit");
		return VRAMSCOPE_CUDA_MISSING_SYMBOLS;
	}
	int result = check_symbols(why, room);
	if (result)
		return result;
	*(void **)&real_error_name = dlsym(library, "cuGetErrorName");
	*(void **)&get_default_pool = dlsym(library, "cuDeviceGetDefaultMemPool");
	*(void **)&pool_get = dlsym(library, "cuMemPoolGetAttribute");
	*(void **)&pool_set = dlsym(library, "cuMemPoolSetAttribute");
	*(void **)&pool_trim = dlsym(library, "cuMemPoolTrimTo");
	*(void **)&alloc_async = dlsym(library, "cuMemAllocAsync");
	*(void **)&free_async = dlsym(library, "cuMemFreeAsync");
	real_init = init;
	return cuInit(0);
}

const char *vramscope_cuda_library(void) { return library_name; }

const char *vramscope_cuda_error_name(int result)
{
	const char *name = NULL;
	if (!real_error_name || real_error_name((CUresult)result, &name) != CUDA_SUCCESS)
		return NULL;
	return name;
}

int vramscope_cuda_default_pool(CUdevice device, void **pool)
{
	return get_default_pool ? (int)get_default_pool(pool, device) : VRAMSCOPE_CUDA_MISSING_SYMBOLS;
}

int vramscope_cuda_pool_read(void *pool, int attribute, unsigned long long *bytes)
{
	return pool_get ? (int)pool_get(pool, attribute, bytes) : VRAMSCOPE_CUDA_MISSING_SYMBOLS;
}

int vramscope_cuda_pool_zero(void *pool, int attribute)
{
	unsigned long long zero = 0;
	return pool_set ? (int)pool_set(pool, attribute, &zero) : VRAMSCOPE_CUDA_MISSING_SYMBOLS;
}

int vramscope_cuda_pool_trim(void *pool, size_t keep)
{
	return pool_trim ? (int)pool_trim(pool, keep) : VRAMSCOPE_CUDA_MISSING_SYMBOLS;
}

int vramscope_cuda_allocate_async(unsigned long long *address, size_t bytes, CUstream stream)
{
	CUdeviceptr given = 0;
	int result = alloc_async ? (int)alloc_async(&given, bytes, stream) : VRAMSCOPE_CUDA_MISSING_SYMBOLS;
	*address = given;
	return result;
}

int vramscope_cuda_free_async(unsigned long long address, CUstream stream)
{
	return free_async ? (int)free_async((CUdeviceptr)address, stream) : VRAMSCOPE_CUDA_MISSING_SYMBOLS;
}

/*
 * NVML counts its openings, so that this disturbs nobody who uses it in the same
 * process. The library stays loaded: loading it is what takes time.
 */
int vramscope_cuda_nvml_free(const char *uuid, unsigned long long *bytes)
{
	void *nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!nvml)
		return -1;
	int (*init)(void), (*shutdown)(void), (*find)(const char *, void **), (*memory)(void *, unsigned long long[3]);
	*(void **)&init = dlsym(nvml, "nvmlInit_v2");
	*(void **)&shutdown = dlsym(nvml, "nvmlShutdown");
	*(void **)&find = dlsym(nvml, "nvmlDeviceGetHandleByUUID");
	*(void **)&memory = dlsym(nvml, "nvmlDeviceGetMemoryInfo");
	if (!init || !shutdown || !find || !memory || init())
		return -1;
	unsigned long long total_free_used[3];
	void *device;
	int result = find(uuid, &device);
	if (!result)
		result = memory(device, total_free_used);
	if (!result)
		*bytes = total_free_used[1];
	shutdown();
	return result;
}
