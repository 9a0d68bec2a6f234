"""Prediction: metrics, interval, limit and factors, from simulated cycles.

In: the outcome of the simulation and exact counts.
Out: `Prediction` with every number under its Nsight Compute name.

Numbers are computed here, tables are laid out in report/.
"""
