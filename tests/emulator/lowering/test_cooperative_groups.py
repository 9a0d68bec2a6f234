"""Cooperative groups: tiles and coalesced lanes of a warp, and barriers of the whole grid."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import kernel, same, written
from warplens.errors import KernelFault, UsageError

pytestmark = pytest.mark.usefixtures("every_thread_works")

FILE = "k23_coopgroups.cu"


@pytest.mark.every(7)
@pytest.mark.parametrize("threads", [128, 32])
def test_cg1(arch: str, threads: int) -> None:
    a = np.random.default_rng(threads).integers(-9, 9, threads, dtype=np.int32)
    o = np.full(400, -77, np.int32)
    kernel(FILE, "cg1", arch).launch(1, threads, a, o)
    tiles = a.reshape(-1, 16)
    down = tiles.copy()
    for k in (8, 4, 2, 1):
        lane = np.arange(16)
        down = down + down[:, np.where(lane + k < 16, lane + k, lane)]
    v = down.reshape(-1)
    want = np.full(400, -77, np.int32)
    want[: threads // 16] = down[:, 0]
    want[200 : 200 + threads] = np.repeat(down.sum(1), 16)
    for warp in v.reshape(-1, 32):
        odd = (warp & 1).astype(bool)
        want[64 : 64 + odd.sum()] = odd.sum()  # warps overwrite each other, the last one runs last
        if (warp[odd] == 3).any():
            want[7] = 1
    same(o, want)


@pytest.mark.every(2)
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (5, 64), ((3, 2, 4), (8, 3, 2)), (300, 32)])
def test_cg2(arch: str, grid: int | tuple[int, ...], block: int | tuple[int, ...]) -> None:
    """o[i] = 1 + o[i + 1], some of which have been added to already: each is 2 or more, and nobody reads a zero."""
    n = int(np.prod(grid) * np.prod(block))
    o = np.zeros(n, np.int32)
    kernel(FILE, "cg2", arch).launch(grid, block, o, cooperative=True)
    assert (o >= 2).all()
    assert o.sum() >= 2 * n


PHASES = """
#include <cooperative_groups.h>
extern "C" __global__ void phases(int *o, int n, int turns) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank();
  for (int k = 0; k < turns; k++) {
    int *from = o + k % 2 * n, *to = o + (k + 1) % 2 * n;
    to[i] = from[(i + 1) % n] + from[(i + n - 1) % n];
    grid.sync();
  }
}
"""


@pytest.mark.every(2)
@pytest.mark.parametrize(("blocks", "threads"), [(1, 64), (40, 96), (264, 32)])
def test_many_barriers_of_the_grid(arch: str, blocks: int, threads: int) -> None:
    n, turns = blocks * threads, 6
    o = np.zeros((2, n), np.int32)
    o[0] = np.random.default_rng(blocks).integers(0, 1000, n)
    want = o[0].copy()
    for _ in range(turns):
        want = np.roll(want, 1) + np.roll(want, -1)
    written(PHASES, "phases", arch).launch(blocks, threads, o, n, turns, cooperative=True)
    same(o[turns % 2], want)


def test_counts_do_not_depend_on_threads() -> None:
    counts = []
    for threads in (1, 2):
        o = np.zeros(2560, np.int32)
        run = written(PHASES, "phases").launch(20, 64, o, 1280, 3, cooperative=True, threads=threads)
        counts.append(run["smsp__inst_executed.sum"])
    assert counts[0] == counts[1]


def test_a_launch_that_is_not_cooperative_traps() -> None:
    with pytest.raises(KernelFault, match=r"grid\.sync\(\) needs a cooperative launch: cooperative=True"):
        written(PHASES, "phases").launch(2, 32, np.zeros(128, np.int32), 64, 3)


def test_more_blocks_than_are_resident() -> None:
    launch = written(PHASES, "phases").launch
    with pytest.raises(UsageError, match=r"4225 are given; NVIDIA H200 SXM holds 4224 \(32 on each of 132"):
        launch(4225, 32, np.zeros(2 * 4225 * 32, np.int32), 4225 * 32, 1, cooperative=True)
    with pytest.raises(UsageError, match=r"holds 132 \(1 on each"):
        launch(133, 32, np.zeros(2 * 133 * 32, np.int32), 133 * 32, 1, cooperative=True, shared=200_000)


@pytest.mark.long
def test_as_many_blocks_as_are_resident() -> None:
    n = 4224 * 32
    o = np.zeros((2, n), np.int32)
    o[0] = 1
    written(PHASES, "phases").launch(4224, 32, o, n, 2, cooperative=True)
    assert (o[0] == 4).all()


TILES = """
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiles(int *o) {
  __shared__ cg::block_tile_memory<256> scratch;
  auto tile = cg::tiled_partition<128>(cg::this_thread_block(scratch));
  int x = threadIdx.x;
  o[x] = cg::reduce(tile, x, cg::plus<int>());
  o[256 + x] = cg::inclusive_scan(tile, x);
}
"""


def test_tiles_of_several_warps_meet_in_shared_memory_that_the_driver_keeps() -> None:
    o = np.zeros(512, np.int32)
    written(TILES, "tiles", "sm_90").launch(1, 256, o)
    x = np.arange(256, dtype=np.int32).reshape(2, 128)
    same(o[:256], np.repeat(x.sum(1, dtype=np.int32), 128))
    same(o[256:], x.cumsum(1, dtype=np.int32).reshape(-1))
