"""Who of the blocks that share a line waits for DRAM."""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.machine import machine
from warplens.model.grid.first_touch import PARTS, first_touch_shares
from warplens.model.instruction.instruction_table import InstructionTable, machine_code
from warplens.model.layout import Kind
from warplens.model.sm.l2_port import drawn_by
from warplens.model.trace.trace_decoder import ENTER, basic_block, instruction, length
from warplens.model.trace.warp_streams import WarpStreams

WAITED_SHARE = machine("h200").microarchitecture.waited_share
ROOT = Path(__file__).parents[3]
with (ROOT / "measurements" / "h200" / "seams.csv").open(encoding="utf-8") as file:
    MEASURED = list(csv.DictReader(file))
HALO = """extern "C" __global__ void halo(const float* x, float* y, int n) {
  __shared__ float s[66];
  int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x + 1] = x[i];
  if (threadIdx.x == 0 && i > 0) s[0] = x[i - 8];
  __syncthreads();
  if (threadIdx.x < 8 && i + 64 < n) s[65] = x[i + 64];
  __syncthreads();
  y[i] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}"""


def recording(source: str, grid: int, block: int, *arguments: Any) -> tuple[WarpStreams, InstructionTable]:
    run = wl.compile(source=source, arch="sm_90")[source.split("void ")[1].split("(")[0]].launch(
        grid, block, *arguments
    )
    return run._record(grid, tuple(range(grid))), machine_code(run.kernel.program, machine("h200"))


def test_a_seam_is_the_neighbours_who_reads_it_sooner() -> None:
    streams, code = recording(HALO, 40, 64, np.zeros(2560, np.float32), np.zeros(2560, np.float32), 2560)
    first = first_touch_shares(streams, range(40), 40, code, WAITED_SHARE)
    loads = np.flatnonzero((code.kind == Kind.LOAD) & (code.lane_bytes == 4))
    shares = sorted(first[i].min() for i in loads)
    assert shares[0] < 0.2  # behind the barrier
    assert shares[-1] == 1.0  # its own
    assert len(shares) >= 3


ROWS = """
__device__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void rows(const float* x, float* y) {
  __shared__ __align__(128) float s[1024];
  __shared__ unsigned long long full;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at(&full)));
#pragma unroll
  for (int i = 0; i < 2; i++) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(at(&full)) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];"
                   ::"r"(at(s)), "l"(x + (blockIdx.x + i) * 1024), "r"(at(&full)) : "memory");
    }
    asm volatile("{ .reg .pred over;\\n again: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\\n"
                 "@!over bra again; }" ::"r"(at(&full)), "r"(i) : "memory");
  }
  y[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}"""


def test_a_row_that_a_neighbour_has_copied_before_is_no_first_touch() -> None:
    """Each block copies its own row, waits for it, and copies the next block's."""
    streams, code = recording(ROWS, 40, 32, np.zeros(41 * 1024, np.float32), np.zeros(40 * 32, np.float32))
    first = first_touch_shares(streams, range(40), 40, code, WAITED_SHARE)
    own, next_row = np.flatnonzero(code.kind == Kind.BULK_LOAD)
    assert (first[own] == 1.0).all()
    assert first[next_row].min() == pytest.approx(1 / 40 + WAITED_SHARE * (1 - 1 / 40))


TILES = """extern "C" __global__ void tiles(const float* x, float* y, int own) {
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < 2 * own; i++)
    sum += x[((blockIdx.x + (i >= own)) % gridDim.x + (int)sum + (i % own) * gridDim.x) * 32 + threadIdx.x];
  y[blockIdx.x * 32 + threadIdx.x] = sum;
}"""


def test_what_a_persistent_block_loads_last_others_have_loaded_first() -> None:
    """Each block loads rows of its own, one after the other, and then those that its neighbour has loaded by then."""
    streams, code = recording(TILES, 40, 32, np.zeros(40 * 32 * 32, np.float32), np.zeros(1280, np.float32), 32)
    first = first_touch_shares(streams, range(40), 40, code, WAITED_SHARE)
    (load,) = np.flatnonzero(code.kind == Kind.LOAD)
    assert (first[load, : PARTS // 2 - 1] == 1.0).all()
    assert first[load, PARTS // 2 + 1 :] == pytest.approx(WAITED_SHARE)


def test_of_a_copy_all_lines_of_a_buffer_are_there_or_none() -> None:
    drawn = drawn_by.python
    assert [drawn(line, -1, 3) for line in (5, 6)] == [5, 6]  # of loads each by itself
    assert len({drawn(line, 7, 3) for line in range(128)}) == 1
    assert len({drawn(5, copy, buffer) for copy in range(4) for buffer in range(4)}) == 16


def slowly(
    streams: WarpStreams, asked: range, at_once: int, code: InstructionTable
) -> dict[tuple[int, int], float]:  # fmt: skip
    """The same in the words of the module, without barriers: who comes to a piece first, block by block; by instruction
    and part of the trace."""
    stages: dict[tuple[int, int], tuple[int, tuple[int, int]]] = {}
    for warp, (at, end) in enumerate(zip(streams.starts, streams.ends, strict=True)):
        start, stage, pending = at, 0, set()
        block = streams.blocks[warp // streams.warps]
        while at < end:
            number = basic_block(streams.words[at])
            at += 2
            for i in range(code.firsts[number], code.lasts[number] + 1):
                if any(code.wait_mask[i] >> board & 1 for board in pending):
                    stage, pending = stage + 1, set()
                if at < end and streams.words[at] < ENTER and instruction(streams.words[at]) == i:
                    size = length(streams.words[at])
                    if code.kind[i] == Kind.LOAD:
                        pending.add(int(code.write_barrier[i]))
                        place = i, int(PARTS) * int(at - start) // int(end - start)
                        for sector in streams.words[at + 2 : at + size]:
                            key = int(sector) >> 1, block
                            stages[key] = min(stages.get(key, (1 << 30, place)), (stage, place))
                    at += size
    window = at_once / (max(stage for stage, _ in stages.values()) + 1)
    users = defaultdict(list)
    for (piece, block), (stage, place) in stages.items():
        users[piece].append((block, stage, place))
    told = defaultdict(list)
    for of_piece in users.values():
        for block, stage, place in of_piece:
            others = [(b, s) for b, s, _ in of_piece if b != block and b // at_once == block // at_once]
            near = at_once if block < at_once else window
            sooner = any(b < block - near or (abs(b - block) <= near and s < stage) for b, s in others)
            sooner = sooner or any(b < block and s < stage for b, s in others)
            if block in asked:
                told[place].append(not sooner)
    return {place: mean(each) + WAITED_SHARE * (1 - mean(each)) for place, each in told.items()}


@pytest.mark.parametrize("at_once", [7, 16, 24])
def test_each_piece_by_itself_gives_the_same(at_once: int) -> None:
    rng = np.random.default_rng(3)
    source = """extern "C" __global__ void wander(const int* x, const int* next, int* y) {
      int at = next[blockIdx.x * 2 + threadIdx.x / 32], sum = 0;
      for (int k = 0; k < 5 + at % 3; ++k) { sum += x[at * 32 + threadIdx.x % 32]; at = next[at]; }
      y[blockIdx.x * 64 + threadIdx.x] = sum;
    }"""
    next_one = rng.integers(0, 60, 60).astype(np.int32)
    streams, code = recording(source, 24, 64, np.zeros(2048, np.int32), next_one, np.zeros(1536, np.int32))
    first = first_touch_shares(streams, range(24), at_once, code, WAITED_SHARE)
    for place, share in slowly(streams, range(24), at_once, code).items():
        assert first[place] == pytest.approx(share), place


@pytest.mark.every(2)
@pytest.mark.parametrize("threads", [32, 256])
def test_seams_are_waited_for_as_on_an_h200(threads: int, snapshot: Snapshot) -> None:
    """Of 48 steps, in shares of what lines that nobody else reads cost."""
    steps, warps = 48, 132 * threads // 32
    region = steps * 32
    pool = warps * region
    kernel = wl.compile(ROOT / "tests" / "kernels" / "seams.cu")["seam"]
    x, out = np.zeros(2 * pool + 16384 * 32, np.int32), np.zeros(256, np.int32)

    def time(what: int) -> float:
        return kernel.launch(132, threads, x, out, steps, 1, what, region, pool).predict("h200").time_us

    shared, alone = time(0), time(1)
    wanted = next(
        r for r in MEASURED if (r["blocks"], r["threads"], r["steps"], r["delta"]) == ("132", str(threads), "48", "1")
    )
    assert snapshot(shared / alone) == pytest.approx(float(wanted["next_us"]) / float(wanted["never_us"]), abs=0.08)


@pytest.mark.long
def test_an_instruction_that_is_repeated_where_it_stands_is_passed_over() -> None:
    """Each look at an mbarrier is an access, and no basic block is entered for it."""
    x = np.arange(128, dtype=np.int32)
    kernel = wl.compile(ROOT / "tests" / "validation" / "field" / "field_library.cu", arch="sm_90")["barrier_phases"]
    run = kernel.launch(1, 128, x, np.zeros_like(x), 50)
    code = machine_code(run.kernel.program, machine("h200"))
    first = first_touch_shares(run._record(1, (0,)), (0,), 1, code, WAITED_SHARE)
    assert (first == 1).all()


FEW = """extern "C" __global__ void few(const int* x, int* y, int rounds) {
  int sum = 0;
  for (int k = 0; k < rounds; ++k) sum += x[352 * (k & 7) + threadIdx.x];
  y[blockIdx.x * 32 + threadIdx.x] = sum;
}"""


@pytest.mark.parametrize("enough", [1000, 3500, 8000])
def test_few_pieces_that_are_asked_for_often_are_looked_at_in_part(
    enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 pieces, each asked for 1,000 times: half of the pieces is not half of what asks for them."""
    streams, code = recording(FEW, 100, 32, np.ones(2816, np.int32), np.zeros(3200, np.int32), 80)
    monkeypatch.setattr("warplens.model.grid.first_touch.ENOUGH", enough)
    first = first_touch_shares(streams, range(100), 100, code, WAITED_SHARE)
    assert ((first >= 0) & (first <= 1)).all()
