"""Execution: a launch from setup to counts.

In: a kernel with its program, a launch, device memory, options of the run.
Out: a `Trace` with the counts, or a fault; work is divided among threads, and no count depends on their number.

It does not know what an instruction does.
"""
