"""Lowering: the instructions of a kernel as LLVM IR functions.

In: a `Program`, the operations of isa/, the facts of analysis/.
Out: one function that runs a warp until it ends, suspends or faults: control flow, memory, cross-lane operations,
special registers, counting by basic block.

It does not know how code is compiled, cached or called.
"""
