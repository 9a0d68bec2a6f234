"""What a CUDA kernel really executes, how well it uses memory, and why."""
