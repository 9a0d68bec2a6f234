"""Launch rules: faults of grid, block and what an SM holds of them."""
