"""The caching allocator of a device: one stream, small and large segments, best
fit, splitting and merging."""
import driver

MIB = 1 << 20
STATS = ("active", "active_bytes", "allocated_bytes", "allocation", "inactive_split", "inactive_split_bytes",
         "requested_bytes", "reserved_bytes", "segment")


class Block:
    def __init__(self, segment, offset, size):
        self.segment, self.offset, self.size = segment, offset, size
        self.requested, self.live = 0, False


class Segment:
    def __init__(self, address, size, small, pool):
        self.address, self.size, self.small, self.pool = address, size, small, pool
        self.blocks = [Block(self, 0, size)]

    def split(self):
        return len(self.blocks) > 1

    def live(self):
        return sum(b.size for b in self.blocks if b.live)


class Stat:
    def __init__(self):
        self.current = self.peak = self.allocated = self.freed = 0

    def set(self, value):
        change = value - self.current
        self.allocated += max(0, change)
        self.freed += max(0, -change)
        self.current, self.peak = value, max(self.peak, value)

    def told(self):
        return dict(current=self.current, peak=self.peak, allocated=self.allocated, freed=self.freed)


class Device:
    def __init__(self, ordinal):
        self.ordinal = ordinal
        self.segments, self.next_address = [], 0x7F0000000000
        self.pool = (0, 0)  # the private pool that is being allocated to
        self.kept = set()  # private pools whose graph is alive
        self.stats = {name: {pool: Stat() for pool in ("all", "large_pool", "small_pool")} for name in STATS}
        self.counts = dict(num_ooms=0, num_alloc_retries=0, num_device_alloc=0, num_device_free=0, num_sync_all_streams=0)
        self.traces = []

    def allocate(self, size):
        """A block, or None where the driver has no more."""
        rounded = max(512, (size + 511) // 512 * 512)
        small = rounded <= MIB
        fits = [b for s in self.segments if s.small == small and s.pool == self.pool
                for b in s.blocks if not b.live and b.size >= rounded]
        block = min(fits, key=lambda b: (b.size, b.segment.address + b.offset), default=None)
        block = block or self.grow(rounded, small)
        if block is None:
            self.empty_cache()
            self.counts["num_alloc_retries"] += 1
            block = self.grow(rounded, small)
        if block is None:
            self.counts["num_ooms"] += 1
            return None
        rest = block.size - rounded
        if rest >= 512 if small else rest > MIB:
            at = block.segment.blocks.index(block)
            block.segment.blocks.insert(at + 1, Block(block.segment, block.offset + rounded, rest))
            block.size = rounded
        block.live, block.requested = True, size
        self.count()
        return block

    def grow(self, rounded, small):
        size = 2 * MIB if small else 20 * MIB if rounded < 10 * MIB else (rounded + 2 * MIB - 1) // (2 * MIB) * 2 * MIB
        if not driver.take(self.ordinal, size):
            return None
        self.counts["num_device_alloc"] += 1
        segment = Segment(self.next_address, size, small, self.pool)
        self.next_address += size + 32 * MIB
        self.segments.append(segment)
        return segment.blocks[0]

    def free(self, block):
        block.live, block.requested = False, 0
        blocks = block.segment.blocks
        at = blocks.index(block)
        for neighbour in (at + 1, at - 1):
            if 0 <= neighbour < len(blocks) and not blocks[neighbour].live:
                first, second = sorted((at, neighbour))
                blocks[first].size += blocks[second].size
                del blocks[second]
                at = first
        self.count()

    def empty_cache(self):
        for segment in [s for s in self.segments if s.live() == 0 and s.pool not in self.kept]:
            self.segments.remove(segment)
            driver.give(self.ordinal, segment.size)
            self.counts["num_device_free"] += 1
        self.count()

    def count(self):
        for pool, chosen in (("all", self.segments), ("small_pool", [s for s in self.segments if s.small]),
                             ("large_pool", [s for s in self.segments if not s.small])):
            live = [b for s in chosen for b in s.blocks if b.live]
            inactive = [b for s in chosen if s.split() for b in s.blocks if not b.live]
            allocated = sum(b.size for b in live)
            for name, value in (("active", len(live)), ("active_bytes", allocated), ("allocated_bytes", allocated),
                                ("allocation", len(live)), ("inactive_split", len(inactive)),
                                ("inactive_split_bytes", sum(b.size for b in inactive)),
                                ("requested_bytes", sum(b.requested for b in live)),
                                ("reserved_bytes", sum(s.size for s in chosen)), ("segment", len(chosen))):
                self.stats[name][pool].set(value)

    def statistics(self):
        told = {name: {pool: stat.told() for pool, stat in pools.items()} for name, pools in self.stats.items()}
        told.update(self.counts, max_split_size=-1, oversize_allocations=Stat().told(), oversize_segments=Stat().told())
        return told

    def reset_peaks(self):
        for pools in self.stats.values():
            for stat in pools.values():
                stat.peak = stat.current

    def snapshot(self):
        return [{
            "device": self.ordinal, "address": s.address, "total_size": s.size, "stream": 0,
            "allocated_size": s.live(), "active_size": s.live(), "requested_size": sum(b.requested for b in s.blocks),
            "segment_type": "small" if s.small else "large", "segment_pool_id": s.pool, "is_expandable": False, "frames": [],
            "blocks": [{"address": s.address + b.offset, "size": b.size, "requested_size": b.requested,
                        "state": "active_allocated" if b.live else "inactive", "frames": []} for b in s.blocks],
        } for s in self.segments]
