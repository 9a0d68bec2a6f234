"""One module a section of Nsight Compute's report, each with its METRICS; a new module here is found by
itself."""
