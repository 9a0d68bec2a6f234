"""Lab reports: the table of a lab, and its form in the README.

In: rungs with their counts, predicted and measured times.
Out: rows and columns that terminal, page and JSON share.

It does not know how a rung is run.
"""
