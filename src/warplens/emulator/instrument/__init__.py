"""Instrumentation: code that --check and trace recording add to accesses and barriers.

In: an access or a synchronisation of a warp, with its instruction and lanes.
Out: findings (races, uninitialised reads, misused barriers) and trace records of addresses and basic blocks.

Where no check is on, nothing is emitted and code is the same as without this package.
"""
