"""JIT: IR of a kernel to machine code of this host, cached on disk.

In: an LLVM module and what its code depends on.
Out: callable functions; code for diverged warps is compiled at a kernel's first divergence.

It does not know what the functions compute.
"""
