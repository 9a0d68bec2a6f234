"""Threaded code: the baseline tier, ready without compiling the kernel.

In: the instructions of a kernel.
Out: one record an instruction, with a handler (machine code of an instruction template, compiled once a host) and its
operand numbers, and a dispatch loop that runs them.

It computes and counts exactly what the compiled tier does; execute/tiering.py chooses between them.
"""
