/*
 * Stands in front of CUDA's own cuda.h. Since version 13 that header maps five
 * names to entry points that take other arguments than gorgonia.org/cu passes.
 * The driver still has the earlier entry points, and this maps the names back.
 */
#ifndef VRAMSCOPE_CUDA_H
#define VRAMSCOPE_CUDA_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

#undef cuCtxCreate
#undef cuMemAdvise
#undef cuMemPrefetchAsync
#undef cuGraphAddDependencies
#undef cuGraphGetEdges

#ifdef __cplusplus
extern "C" {
#endif

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
CUresult CUDAAPI cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult CUDAAPI cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream);
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count);
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count);

#ifdef __cplusplus
}
#endif

#define cuCtxCreate cuCtxCreate_v2

#endif
#endif
