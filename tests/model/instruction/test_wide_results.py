"""What is wide comes back in parts: loads of 8 and 16 bytes, and the high half of a product.

Calibration: `L1 hits, 16 B of one place`, `pipe high`.
"""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.machine import machine
from warplens.model.instruction.instruction_table import machine_code

LOADS = """extern "C" __global__ void loads(const WORDS* x, float* sink, int rounds, int hop) {
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 16; ++i) { WORDS v = x[i]; sum += ALL; }
    x += hop;
  }
  if (sum == 12345.0f) sink[0] = sum;
}"""
ROUNDS, WARPS, LOADS_A_ROUND = 32, 32, 16


@pytest.mark.parametrize(("words", "all_of", "cycles"), [("float", "v", 1), ("float2", "v.x + v.y", 2), ("float4", "v.x + v.y + v.z + v.w", 4)])  # fmt: skip  # noqa: E501
def test_a_load_of_one_place_takes_a_cycle_for_each_four_bytes(
    words: str, all_of: str, cycles: int, snapshot: Snapshot
) -> None:
    source = LOADS.replace("WORDS", words).replace("ALL", all_of)
    kernel = wl.compile(source=source, arch="sm_90")["loads"]
    x, sink = np.zeros(64, np.float32), np.zeros(1, np.float32)
    times = [
        kernel.launch((1,), (32 * WARPS,), x, sink, rounds, 0).predict("h200").time_us
        for rounds in (ROUNDS, 3 * ROUNDS)
    ]
    taken = (times[1] - times[0]) * machine("h200").boost_megahertz / (2 * ROUNDS * WARPS * LOADS_A_ROUND)
    assert snapshot(taken) == pytest.approx(cycles, rel=0.15)


def test_the_high_half_of_a_product_takes_twice_the_time_of_the_low() -> None:
    source = """extern "C" __global__ void product(unsigned* w, unsigned long long* d) {
      unsigned a = w[threadIdx.x], b = w[threadIdx.x + 32];
      w[threadIdx.x] = a * b + 5;
      w[threadIdx.x + 64] = __umulhi(a, b);
    }"""
    program = wl.compile(source=source, arch="sm_90")["product"].program
    cycles = machine_code(program, machine("h200")).pipe_cycles
    high = [cycles[i.index] for i in program.instructions if i.base == "IMAD" and "HI" in i.modifiers]
    others = {"HI", "MOV", "WIDE"}
    low = [cycles[i.index] for i in program.instructions if i.base == "IMAD" and not others & set(i.modifiers)]
    assert high == [4.0]
    assert set(low) == {2.0}
