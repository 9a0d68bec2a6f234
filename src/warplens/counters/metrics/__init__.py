"""Metrics by family: one module a section of Nsight Compute's report, with its METRICS; new modules are found."""
