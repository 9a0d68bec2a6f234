"""Terminal reports: tables of 60 to 140 columns.

In: views of report/ (launch, prediction, comparison).
Out: rich renderables.

Numbers are formatted here and computed nowhere in this package.
"""
