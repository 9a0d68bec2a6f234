"""Counters: Nsight Compute's metrics from what the executor counted."""
