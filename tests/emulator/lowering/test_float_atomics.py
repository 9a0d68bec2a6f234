"""Atomic additions of floats: blocks add in one order, whatever the number of host threads, because sums round."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import written

pytestmark = pytest.mark.usefixtures("every_thread_works")

SOURCE = """
extern "C" __global__ void sums({type} *sum, const {type} *values, int rounds) {{
  int x = threadIdx.x;
  for (int k = 0; k < (blockIdx.x < gridDim.x / 2 ? rounds : 0); k++) x = x * 1664525 + (x >> 3) + k;
  atomicAdd(sum, x == 42 ? 0 : values[blockIdx.x]);
}}
"""
BLOCKS = 400


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_add_in_order_also_where_a_second_thread_would_be_faster(dtype: type) -> None:
    """The first half of the blocks takes long, so two threads that share the blocks would mix both halves."""
    kernel = written(SOURCE.format(type={np.float32: "float", np.float64: "double"}[dtype]), "sums")
    values = (np.random.default_rng(3).random(BLOCKS) * 1e3).astype(dtype)
    sums = []
    for threads in (1, 2):
        total = np.zeros(1, dtype)
        kernel.launch(BLOCKS, 1, total, values, np.int32(2000), threads=threads)
        sums.append(total.tobytes())
    assert sums[0] == sums[1]
    in_order = dtype(0)
    for value in values:
        in_order += value
    assert sums[0] == in_order.tobytes()
