"""SM simulation: the cycles of one streaming multiprocessor.

In: warp traces, the instruction table, the speeds of a GPU and `MemorySupply` from grid/.
Out: cycles, stall reasons and counts of each unit, in the order in which a request travels: dispatch, issue, pipes,
load/store unit, L1, store queue, L2 port, DRAM.

It depends on neither metric names nor reports.
"""
