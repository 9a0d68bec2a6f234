"""Warpgroup products (wgmma): the machine code that multiplies matrices of shared memory, one routine a form.

In: descriptors of matrices in shared memory, A's registers, accumulators of one warp.
Out: the accumulators, bit for bit; a fault where a matrix lies outside of the block's shared memory.

A warp computes its 16 of the 64 rows by itself: the warps of a warpgroup need not be executed together.
"""
