"""The private pools that torch keeps for CUDA graphs, and for whoever asks for a
MemPool: empty_cache gives nothing of them back while their owner lives.

No counter tells of them; only a walk over every block does, which has no place
on the probe's thread. The main thread makes it at a frame boundary, seldom and
while there are few blocks, and around every command.
"""
import time

from .adapter import Adapter, register
from .device import gpu_uuid
from .torch_allocator import TORCH


class TorchPrivatePools(Adapter):
    """The set "torch:N:graphs" within "torch:N", where there are such pools."""

    at_looks = True
    PERIOD = 30.0  # seconds between two walks at frame boundaries
    MOST_BLOCKS = 4000  # a walk takes 0.6 us a block
    CALL = "torch.cuda.memory_snapshot, walked at a frame boundary or a command, every 30 s at most"

    def __init__(self):
        self.due = False  # the next frame boundary is to walk
        self._walked = (0.0, {})  # when, and ordinal -> counters, replaced as a whole

    def library(self):
        return TORCH.library()

    def look(self):
        """Walks over torch's segments. On the main thread only, and not while a
        CUDA graph is captured."""
        self.due = False
        if TORCH.cuda() is None or TORCH.backend() != "native" or TORCH.history():
            self._walked = (time.monotonic(), {})
            return
        ordinals = TORCH.ordinals()
        if sum(self._blocks(ordinal) for ordinal in ordinals) > self.MOST_BLOCKS:
            self._walked = (time.monotonic(), {})
            return
        pools = {}
        for segment in TORCH.cuda().memory_snapshot():
            if tuple(segment.get("segment_pool_id", (0, 0))) == (0, 0):
                continue
            counters = pools.setdefault(segment["device"], {"reserved": 0, "allocated": 0, "active": 0, "segments": 0})
            counters["reserved"] += segment["total_size"]
            counters["allocated"] += segment["allocated_size"]
            counters["active"] += segment["active_size"]
            counters["segments"] += 1
        self._walked = (time.monotonic(), pools)

    def sample(self, out):
        at, pools = self._walked
        self.due = self.due or time.monotonic() - at >= self.PERIOD
        for ordinal, counters in pools.items():
            out.add("torch:%d:graphs" % ordinal, "pool", "private pools of torch", gpu_uuid(ordinal), self.CALL,
                    counters, "torch:%d" % ordinal)

    def forked(self):
        """Forgets what the parent walked over: in a child."""
        self.due, self._walked = False, (0.0, {})

    @staticmethod
    def _blocks(ordinal):
        statistics = TORCH.statistics(ordinal)
        return 2 * (statistics["allocation"]["all"]["current"] + statistics["segment"]["all"]["current"])


PRIVATE_POOLS = register(TorchPrivatePools())
