"""Sweeps: one kernel launched with each value of several parameters.

In: a kernel's launch() and a space of parameters.
Out: a Sweep, a row for each launch.
"""
