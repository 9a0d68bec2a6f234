"""Memory access: code for the loads, stores, atomics and asynchronous copies of a warp.

In: 32 addresses, a lane mask, the width, and what analysis/ knows of the pattern.
Out: IR that checks bounds and alignment, moves the data and counts requests, sectors, lines and wavefronts; common
patterns in closed form, all others by a runtime library.

It does not know opcodes: lowering/ decides which access an instruction makes.
"""
