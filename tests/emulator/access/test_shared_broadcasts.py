"""Shared-memory broadcasts: wavefronts of a load whose address the compiler knows to be the same for all lanes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import written

SOURCE = """
extern "C" __global__ void broadcast_{n}({type} *out, int k) {{
  __shared__ {type} words[64];
  words[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x + 32] = words[k];
}}
"""
TYPES = {4: "float", 8: "float2", 16: "float4"}
KERNELS = "".join(SOURCE.format(n=size, type=kind) for size, kind in TYPES.items())
WAVEFRONTS = {4: 1, 8: 1, 16: 2}  # as an H200 counts: `lds_*,same` of measurements/h200/access_patterns.csv


@pytest.mark.parametrize("size", WAVEFRONTS)
def test_wavefronts_of_a_broadcast(size: int) -> None:
    run = written(KERNELS, f"broadcast_{size}").launch(1, 32, np.ones(16 * size, np.float32), 5)
    assert run["smsp__sass_inst_executed_op_shared_ld.sum"] == 1
    assert run["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == WAVEFRONTS[size]
