"""Lower bounds: the least time of each unit, work divided by peak rate; one file a unit in limits/.

In: exact counts of a launch and a GPU.
Out: `Bound` with time, formula and what it assumes; the longest is the bound of the launch.

Bounds are no predictions: nothing waits in them.
"""
