"""Device memory: one address space over host arrays.

In: numpy arrays and the arguments of a launch.
Out: buffers at fixed device addresses with guard gaps, the bytes of the parameters, and a copy-on-write backup that
restores arrays after a fault.

It does not know which instruction accesses an address; bounds are checked in access/.
"""
