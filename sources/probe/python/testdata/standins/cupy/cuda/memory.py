import driver

current = 0


class OutOfMemoryError(MemoryError):
    pass


class Chunk:
    """A piece of a segment, with its neighbours."""

    def __init__(self, size, prev=None, next=None):
        self.size, self.prev, self.next, self.live = size, prev, next, False


class Memory:
    def __init__(self, pool, chunk, ordinal):
        self.pool, self.chunk, self.ordinal = pool, chunk, ordinal

    def __del__(self):
        self.pool.give(self.chunk, self.ordinal)


class MemoryPool:
    def __init__(self, allocator=None):
        self.chunks = {}

    def mine(self):
        return self.chunks.setdefault(current, [])

    def malloc(self, size):
        rounded = (size + 511) // 512 * 512
        chunk = min((c for c in self.mine() if not c.live and c.size >= rounded), key=lambda c: c.size, default=None)
        if chunk is None:
            if not driver.take(current, rounded):
                raise OutOfMemoryError("Out of memory allocating {:,} bytes (allocated so far: {:,} bytes).".format(rounded, self.total_bytes()))
            chunk = Chunk(rounded)
            self.mine().append(chunk)
        if chunk.size > rounded:
            rest = Chunk(chunk.size - rounded, chunk, chunk.next)
            if chunk.next:
                chunk.next.prev = rest
            chunk.next, chunk.size = rest, rounded
            self.mine().append(rest)
        chunk.live = True
        return Memory(self, chunk, current)

    def give(self, chunk, ordinal):
        chunk.live = False
        if chunk.next is not None and not chunk.next.live:
            self.merge(chunk, ordinal)
        if chunk.prev is not None and not chunk.prev.live:
            self.merge(chunk.prev, ordinal)

    def merge(self, chunk, ordinal):
        gone = chunk.next
        chunk.size, chunk.next = chunk.size + gone.size, gone.next
        if gone.next is not None:
            gone.next.prev = chunk
        self.chunks[ordinal].remove(gone)

    def used_bytes(self):
        return sum(c.size for c in self.mine() if c.live)

    def total_bytes(self):
        return sum(c.size for c in self.mine())

    def free_bytes(self):
        return self.total_bytes() - self.used_bytes()

    def get_limit(self):
        return 0

    def free_all_blocks(self):
        for chunk in [c for c in self.mine() if not c.live and c.prev is None and c.next is None]:
            self.mine().remove(chunk)
            driver.give(current, chunk.size)


class AsyncMemory:
    def __init__(self, size, ordinal):
        self.size, self.ordinal = size, ordinal
        driver.pool_alloc(ordinal, size)

    def __del__(self):
        driver.pool_free(self.ordinal, self.size)


class MemoryAsyncPool:
    def malloc(self, size):
        return AsyncMemory(size, current)

    def attribute(self, name):
        import torch._C as binding  # the same reading of the pool
        return binding.pool_attribute(current, name)

    def used_bytes(self):
        return self.attribute(7)

    def total_bytes(self):
        return self.attribute(5)

    def free_bytes(self):
        return self.total_bytes() - self.used_bytes()

    def get_limit(self):
        return (1 << 64) - 1

    def free_all_blocks(self):
        driver.trim(current)


def malloc_async(size):
    return AsyncMemory(size, current)


default_pool = MemoryPool()
