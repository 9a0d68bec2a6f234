"""Numerics: arithmetic that takes more than a sentence, bit for bit as an H200 does it.

In: lanes of bits.
Out: special functions from tables, sums of tensor cores, formats of 16 and 8 bits, layouts of matrix fragments.

It does not know opcodes or operands.
"""
