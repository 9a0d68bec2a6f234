"""Regression views: what `warplens check` and `warplens diff` found, as their reports show it.

In: verdicts, budgets and differences of the `regression` package.
Out: records of text and numbers for `report/check` and `report/diff`.

It does not know any format.
"""
