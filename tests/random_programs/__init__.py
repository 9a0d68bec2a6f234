"""Small CUDA kernels made from seeds, run by the executor and by an interpreter that knows nothing of machine code."""
