// Package pool hands out device memory and says what it does.
//
// At the bottom is an Upstream, the device: Host plays one in host memory.
// Over it stands a Suballocator, which takes segments and hands out blocks of
// them: Pool, with the answers of RMM's pool_memory_resource, or CachingPool,
// with those of CuPy's MemoryPool. Both keep their books in a ledger (ledger.go)
// whose blocks, links and indexes are plain numbers in slices: a block is found
// by address in a hash table, a free one by size in a freeList, and a
// neighbour by its link, so that no answer depends on how many blocks there
// are by more than the depth of a small tree, and none makes garbage.
//
// Above them stand the layers that decide what happens when memory runs out:
// the choice of the tier, the failure callback, rebuild, release policy,
// statistics, headroom and peak regions.
package pool
