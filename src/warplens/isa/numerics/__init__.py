"""Numerics: arithmetic too long for an operation's body, bit for bit as an H200 computes it.

In: lanes of bits.
Out: special functions from tables, sums of tensor cores, formats of 16 and 8 bits, layouts of matrix fragments.

It does not know opcodes or operands.
"""
