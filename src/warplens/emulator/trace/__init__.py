"""Trace recording: which basic blocks and addresses chosen blocks of a grid execute.

In: a finished launch and the blocks to be recorded.
Out: warp traces for the model of time, and lane traces for tools that show single accesses.

It executes only the slice that decides branches and addresses.
"""
