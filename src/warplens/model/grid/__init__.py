"""Grid memory estimate: what a whole grid does to L2 and DRAM, from the blocks that were recorded.

In: accesses of sampled blocks, the size of the grid, the caches of a GPU.
Out: `MemoryDemand`, whatever L2 holds at the start; with that, `MemorySupply`: for each access the share that comes
from L2 and from DRAM, write-backs, atomics, first touches.

It knows no cycles; sm/ turns shares into time.
"""
