"""Trace input: decodes recorded traces and orders them warp after warp.

In: trace words of emulator/trace.
Out: for each warp the sequence of instructions and accesses that the simulation of an SM reads.

It knows nothing of a GPU.
"""
