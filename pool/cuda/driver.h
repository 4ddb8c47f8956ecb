/*
 * The driver's library, loaded when it is asked for, and what gorgonia.org/cu
 * lacks of it. Nothing here may be called before vramscope_cuda_load has
 * returned 0.
 */
#ifndef VRAMSCOPE_DRIVER_H
#define VRAMSCOPE_DRIVER_H

#include <cuda.h>
#include <stddef.h>

/*
 * Loads the driver and initialises it. 0, or a CUresult of cuInit, or one of
 * these, with the loader's words or the names that are missing in why.
 */
enum { VRAMSCOPE_CUDA_NO_LIBRARY = -1, VRAMSCOPE_CUDA_MISSING_SYMBOLS = -2 };
int vramscope_cuda_load(char *why, size_t room);

/* The file that was loaded. */
const char *vramscope_cuda_library(void);

/* CUDA's name of a CUresult, or NULL. */
const char *vramscope_cuda_error_name(int result);

/* VRAMSCOPE_CUDA_MISSING_SYMBOLS from these means that the driver has no memory pools. */
int vramscope_cuda_default_pool(CUdevice device, void **pool);
int vramscope_cuda_pool_read(void *pool, int attribute, unsigned long long *bytes);
int vramscope_cuda_pool_zero(void *pool, int attribute);
int vramscope_cuda_pool_trim(void *pool, size_t keep);
int vramscope_cuda_allocate_async(unsigned long long *address, size_t bytes, CUstream stream);
int vramscope_cuda_free_async(unsigned long long address, CUstream stream);

/*
 * Free bytes of a GPU by NVML, without a context on it: it is how the share of a
 * context is known. 0, or anything else where NVML does not say.
 */
int vramscope_cuda_nvml_free(const char *uuid, unsigned long long *bytes);

#endif
