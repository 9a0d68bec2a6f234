"""Tensor memory (tcgen05, sm_100): its cells, and what loads, stores, copies and matrix products do to them.

All is compiled from Python, and called by the generated code with a block's tensor memory and shared memory.
tensor_cells.py: allocation, loads and stores of a warp; tensor_copies.py: from shared memory; tensor_multiply.py:
products, of matrices by product_shape.py, operand_matrix.py, element_formats.py and sparse_metadata.py;
tensor_functions.py: addresses of the code.

Written after the PTX ISA alone: no GPU that has it was measured.
"""
