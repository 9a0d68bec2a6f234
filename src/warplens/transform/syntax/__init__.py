"""Syntax: what transforms look for in the syntax tree of a kernel.

`kernel_source.py` is the tree itself, `canonical_form.py` knows equal index expressions, `guarded_index.py` the index
of an elementwise kernel and what ends it, `block_reduction.py` the loop in which a block adds up an array.
"""
