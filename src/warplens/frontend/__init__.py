"""Frontends: kernels of other languages than CUDA C++, by their own compilers and launched in their own spelling.

In: a kernel of Triton or cuda.tile, a file of PyTorch's inductor.  Out: LaunchableKernels, and a Run for each launch.
"""
