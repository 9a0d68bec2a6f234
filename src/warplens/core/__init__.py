"""Core types: the frozen records that all other packages exchange.

In: nothing; every record is built by the package that knows its contents.
Out: `Kernel` and `Cubin` (what a binary declares), `Program` (decoded instructions and basic blocks), `Launch`,
`Trace` (raw counts of one launch), `Metric` (a number with unit and provenance), `Hazard` (a finding of --check).

No record knows how it is computed, printed or read from a file.
"""
