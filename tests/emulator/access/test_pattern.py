"""Rows of 32 lanes at any offset: the sectors are those that they touch."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import written

TYPES = {"char": np.int8, "short": np.int16, "float": np.float32, "double": np.float64}
OFFSETS = (0, 1, 2, 8, 16, 31, 32, 33)
SOURCE = "".join(
    f"""extern "C" __global__ void {name}_{offset}(const {name}* from, {name}* to) {{
      int at = blockIdx.x * 128 + threadIdx.x + {offset};
      to[at] = from[at];
    }}
    """
    for name in TYPES
    for offset in OFFSETS
)


@pytest.mark.every(3)
@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("name", TYPES)
def test_sectors_of_a_row_at_an_offset(name: str, offset: int) -> None:
    """Eight warps, each 32 elements from `offset` elements behind a line on."""
    size = np.dtype(TYPES[name]).itemsize
    row = written(SOURCE, f"{name}_{offset}")
    run = row.launch(8, 32, np.ones(1200, TYPES[name]), np.zeros(1200, TYPES[name]))
    first = [(128 * warp + offset) * size for warp in range(8)]
    touched = sum((start + 32 * size - 1) // 32 - start // 32 + 1 for start in first)
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == touched
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == touched
