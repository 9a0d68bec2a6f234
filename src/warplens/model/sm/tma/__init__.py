"""TMA of an SM: copies that go past registers and L1, and the mbarriers that count their bytes.

In: the trace entries of copies and of mbarriers.
Out: requests to L2, and when warps go on that wait for bytes.
"""
