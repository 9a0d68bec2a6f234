"""Instruction timing: one row an instruction with pipe, latency, register banks and scoreboards.

In: a `Program` and the speeds of a GPU.
Out: the instruction table of the SM simulation, and the clock of the SMs.

It does not know how often an instruction is executed.
"""
