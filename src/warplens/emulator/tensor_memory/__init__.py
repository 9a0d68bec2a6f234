"""Tensor memory (tcgen05, sm_100): its cells, and what loads, stores, copies and matrix products do to them.

All is compiled from Python, and called by the generated code with a block's tensor memory and shared memory.
tensor_cells.py: allocation, loads and stores of a warp.

Written after the PTX ISA alone: no GPU that has it was measured.
"""
