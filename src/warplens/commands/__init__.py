"""Commands: what a verb does, without printing.

In: FILE and the flags of the command line.
Out: launchable kernels, runs with predictions, comparisons with a GPU.

It does not know options of click or how results are shown.
"""
