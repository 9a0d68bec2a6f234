"""Crossed barriers: lanes that wait for each other at two barriers; those at a BSYNC go on, as on an H200.

Kernels for sm_100 and sm_120 do so where ptxas puts a WARPSYNC, or leaves out a BREAK, inside a region that other lanes
wait for (docs/random_programs.md).
"""

from __future__ import annotations

import csv
from functools import cache

import numpy as np
import pytest
from test_yield_groups import STEPS, words

import warplens as wl
from helpers.kernel_launches import KERNELS, written
from helpers.yield_traces import CONTROL, RECORDS
from warplens.emulator import LaneAccess

ALL = np.uint32(0xFFFFFFFF)
ROWS = list(csv.DictReader((RECORDS / "crossed.csv").read_text(encoding="utf-8").splitlines()[1:]))
COUNTED = ["m_if", "m_ifs", "m_loop", "m_nest", "m_vote"]  # of the others some meetings are issued more often there
OPEN = {("m_ifs", 1), ("m_ifs", 5), ("m_ifs", 7), ("m_loop", 1), ("m_nest", 11), ("m_vote", 1)}


@cache
def crossed() -> wl.Module:
    """With NOP in place of BREAK."""
    made = wl.compile(KERNELS / "crossed.cu", arch="sm_90")
    code, every = made.cubin.data, [i for name in made for i in made[name].program.instructions]
    nop = next(i.encoding for i in every if i.base == "NOP") % (1 << CONTROL)
    for word in {i.encoding for i in every if i.base == "BREAK"}:
        code = code.replace(word.to_bytes(16, "little"), (word >> CONTROL << CONTROL | nop).to_bytes(16, "little"))
    return wl.load(code)


@pytest.mark.every(7)
@pytest.mark.parametrize("name", ["m_loop", "m_nest", "m_breaks"])
def test_order_as_on_an_h200(name: str) -> None:
    warps = words()
    log = np.zeros((len(warps), STEPS, 32, 2), np.uint32)
    run = crossed()[name].launch(len(warps), 32, warps, ALL, log, threads=1)
    assert run.again is not None
    base = run.again.memory.allocations[1].address
    orders: list[list[str]] = [[] for _ in warps]
    for step in run.steps(list(range(len(warps)))):
        if isinstance(step, LaneAccess) and step.bytes == 8:
            places = {lane: (at - base) // 8 for lane, at in step.reached.items()}
            (found,) = {int(log.reshape(-1, 2)[place, 1]) for place in places.values()}
            orders[step.block].append(f"{found}:{sum(1 << lane for lane in places):08x}")
    assert orders == [row["steps (number:lanes)"].split() for row in ROWS if row["kernel"] == name]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", COUNTED)
def test_counts_as_on_an_h200(name: str) -> None:
    """Issues, branches and threads of each warp alone."""
    log = np.zeros((1, STEPS, 32, 2), np.uint32)
    for row in (row for row in ROWS if row["kernel"] == name):
        warp = int(row["warp"])
        run = crossed()[name].launch(1, 32, words()[warp : warp + 1], ALL, log.copy(), threads=1)
        equal = all(run[metric] == float(value) for metric, value in row.items() if "__" in metric)
        assert equal != ((name, warp) in OPEN), (name, warp)


def test_where_only_some_lanes_come_to_a_syncwarp() -> None:
    source = """extern "C" __global__ void some(int *y) {
      int v = y[threadIdx.x];
      if (v & 1) {
        v += 3;
        if (v < 100) { __syncwarp(); v *= 5; }
        y[threadIdx.x + 32] = v;
      }
      y[threadIdx.x] = v;
    }"""
    y = np.arange(64, dtype=np.int32)
    written(source, "some").launch(1, 32, y)
    lane = np.arange(32)
    assert (y[:32] == np.where(lane & 1, (lane + 3) * 5, lane)).all()
