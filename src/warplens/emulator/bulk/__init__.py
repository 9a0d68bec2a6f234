"""Bulk copies: cp.async.bulk and copies of boxes of tensors (TMA), as accesses of 32 lanes, one after the other.

bulk_access.py: runs of bytes, mbarriers; tensor_access.py: boxes; box_walk.py: where their elements lie, compiled from
Python.
"""
