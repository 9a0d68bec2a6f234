"""Plots: what plot() of a run, a sweep or a comparison draws with matplotlib; one file a plot.

In: what the report of the same numbers has, and matplotlib's Axes (core/plot_axes.py).
Out: the Axes.
"""
