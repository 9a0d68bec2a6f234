"""SIMT execution: diverged warps, convergence barriers, yields, block barriers, the block scheduler.

In: the lanes that an instruction sends elsewhere, suspends or ends.
Out: the split (pc, lane mask) that a warp runs next, and the warp that a block runs next.

Everything here is emitted once as helper functions; it does not know instructions but for their addresses.
docs/reconvergence.md has the state table.
"""
