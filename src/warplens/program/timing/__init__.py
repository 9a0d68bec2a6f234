"""Timing of a program's launches: what the virtual clock advances by.

In: recorded launches with the addresses of their buffers, copies and fills in the order of the device.
Out: nanoseconds of each launch, with L2 empty and with what it holds from before, its limit and verdict.

A launch is predicted once for each distinct grid and state of L2.  Streams, events and the host's clocks are the
shim's; nothing here knows of them.
"""
