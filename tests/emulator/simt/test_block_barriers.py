"""Block barriers: in shared memory, with a count and a result, of clusters; elected lanes."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import kernel, same, written
from warplens.errors import KernelFault

N = 128
LIKE_AMPERE = (pytest.param(arch, marks=pytest.mark.long) for arch in ("sm_86", "sm_89"))  # opcode for opcode sm_80's
FROM_AMPERE = ["sm_80", *LIKE_AMPERE, "sm_90", "sm_100", "sm_120"]


@pytest.mark.every(5)
@pytest.mark.parametrize("target", FROM_AMPERE)
def test_phases(target: str) -> None:
    out = np.zeros(3 * N, np.int32)
    kernel("barriers.cu", "phases", target).launch(1, N, out)
    t = np.arange(N)
    seen = ((t + 33) % N) ** 2
    want = np.concatenate([-t, seen * 1000 + seen[(t + 64) % N] + 1, np.zeros(N)]).astype(np.int32)
    half = t[: N // 2]
    want[2 * N : 2 * N + N // 2] = -1 - (half + 5) % (N // 2)
    same(out, want)


@pytest.mark.every(5)
@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_100"])
@pytest.mark.parametrize("lucky", [True, False])
def test_reductions(target: str, lucky: bool) -> None:
    data = (np.arange(N) % 3 + lucky).astype(np.int32)
    out = np.zeros(N, np.int32)
    kernel("barriers.cu", "reductions", target).launch(1, N, data, out, 64)
    first = np.where(np.arange(N) < 64, np.count_nonzero(data[:64]), 0)
    same(out, (first + 1000 * bool(data.all()) + 10000 * bool((data == 7).any())).astype(np.int32))


@pytest.mark.every(3)
@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
def test_cluster_of_one_block(target: str) -> None:
    out = np.zeros(2 * N, np.int32)
    run = kernel("barriers.cu", "cluster_of_one", target).launch(1, N, out)
    same(out[:N], (5 + N - 1 - np.arange(N)).astype(np.int32))
    on, all_lanes = (run[f"smsp__thread_inst_executed{which}.sum"] for which in ("_pred_on", ""))
    assert on == all_lanes - N  # ACQBULK has no lanes on: read on an H200 (validation.csv)


@pytest.mark.every(3)
@pytest.mark.parametrize("target", FROM_AMPERE)
@pytest.mark.parametrize("name", ["copied_beside", "copied_instead"])
def test_copies_arrive_at_a_barrier(name: str, target: str) -> None:
    """And the phase after the one that they end is not over."""
    data, out = np.arange(100, dtype=np.int32) * 3, np.full(200, -1, np.int32)
    kernel("barriers.cu", name, target).launch(1, 100, data, out)
    same(out, np.concatenate([data[::-1], np.zeros(100, np.int32)]))


@pytest.mark.every(5)
@pytest.mark.parametrize("target", ["sm_90", "sm_100", "sm_120"])
def test_the_lowest_lane_is_elected(target: str) -> None:
    out = np.zeros(64, np.int32)
    kernel("barriers.cu", "elected", target).launch(1, 64, out)
    lane = np.arange(64) % 32
    same(out, np.where(lane < 5, 0, 500 + (lane == 5)).astype(np.int32))


HALVES = """
extern "C" __global__ void branches(const int *in, int *out) {  // a loop keeps the compiler from guarded barriers
  if (in[threadIdx.x] % 32 < 16) {
    for (int k = 0; k < in[1]; k++) out[threadIdx.x] += 1;
    __syncthreads();
    out[threadIdx.x] += 4;
  } else {
    for (int k = 0; k < in[3]; k++) out[threadIdx.x] += 2;
    __syncthreads();
    out[threadIdx.x] += 8;
  }
}
extern "C" __global__ void guards(const int *in, int *out) {
  if (in[threadIdx.x] % 32 < 16) { __syncwarp(in[1] * ~0u); __syncthreads(); }
  else { __syncthreads(); __syncwarp(in[1] * ~0u); }
  out[threadIdx.x] = 1;
}
"""


@pytest.mark.parametrize("block", [32, 64])
def test_halves_of_a_warp_at_barriers_of_the_block(block: int) -> None:
    """As on an H200 (measurements/README.md): WARPSYNC.ALL in two places hangs, a guarded barrier does not."""
    numbers, out = np.arange(block, dtype=np.int32), np.zeros(block, np.int32)
    branches = written(HALVES, "branches")
    assert sum(i.opcode == "WARPSYNC.ALL" for i in branches.program.instructions) == 2
    with pytest.raises(KernelFault, match="branches hangs"):
        branches.launch(1, block, numbers, out)
    guards = written(HALVES, "guards")
    assert any(i.base == "BAR" and i.guard is not None for i in guards.program.instructions)
    guards.launch(1, block, numbers, out)
    assert (out == 1).all()
