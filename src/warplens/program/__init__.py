"""Whole programs: the device behind CUDA's driver and runtime API.

A program runs with a library (shim/) that answers as libcuda and libcudart; its calls that matter come here, to the
process of `warplens run`, which shares the GPU's memory with it and executes and times its kernels.
"""
