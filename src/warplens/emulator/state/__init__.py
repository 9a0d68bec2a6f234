"""Execution state: the memory layouts that generated code and Python share.

In: what a kernel needs (registers, barriers, checks).
Out: ctypes structures of a warp, a block and a launch, the layout of the counter array, the format of trace words,
constant bank 0 and the address windows, and the set of instrumentation checks.

It does not know how code is generated, nor when a field is written.
"""
