"""A program of Numba-CUDA, whose PTX the driver links."""

import numpy as np
from numba import cuda


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


x = np.arange(1 << 14, dtype=np.float32)
out = np.zeros_like(x)
add[x.size // 128, 128](x, 2 * x, out)
print("PASS" if (out == 3 * x).all() else "FAIL")
