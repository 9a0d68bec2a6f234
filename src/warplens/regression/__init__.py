"""Regressions: budgets and baselines of kernels, and what changed between two versions.

A kernel's machine code in normal form (normal_form.py) says whether it changed at all; budgets (budget.py) are
conditions on its counts, alone or beside those of a baseline (baseline.py), a text file that is committed; a verdict
(verdict.py) is what `warplens check` says of one kernel.
"""
