"""From what the executor saw to Nsight Compute's metrics.  F4."""
