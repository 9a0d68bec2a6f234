"""Blocks that wait for blocks before them."""

from __future__ import annotations

import numpy as np

import warplens as wl
from warplens.sass.block_queue import waiting_loads

CHAIN = """extern "C" __global__ void chain(volatile int* said) {
  if (threadIdx.x) return;
  int before = 1;
  if (blockIdx.x) while ((before = said[blockIdx.x - 1]) == 0) {}
  said[blockIdx.x] = before + 1;
}"""
BACK = """extern "C" __global__ void back(volatile int* said) {
  if (threadIdx.x) return;
  int sum = 0;
  said[blockIdx.x] = blockIdx.x ? 1 : 2 << 16;
  for (int at = blockIdx.x - 1; at >= 0;) {
    int seen = said[at];
    if (seen == 0) continue;
    sum += seen & 0xffff;
    if (seen >> 16) break;
    --at;
  }
  said[blockIdx.x] = 2 << 16 | sum;
}"""
COPY = """extern "C" __global__ void copy(const volatile int* x, int* y) {
  for (int i = 0; i < 4; ++i) y[threadIdx.x + 32 * i] = x[threadIdx.x + 32 * i];
}"""


def _microseconds(source: str, name: str, blocks: int) -> float:
    run = wl.compile(source=source)[name].launch(blocks, 32, np.zeros(blocks, np.int32))
    return run.predict("h200").time_us


def test_a_chain_of_blocks_takes_as_long_as_on_an_h200_link_by_link() -> None:
    assert abs(_microseconds(CHAIN, "chain", 132) - 37.0) < 3  # `chain of blocks` of the calibration
    longer = _microseconds(CHAIN, "chain", 1056) - _microseconds(CHAIN, "chain", 528)
    assert abs(longer - (275.1 - 138.0)) < 10


def test_a_fence_in_each_link_waits_for_what_its_block_has_stored() -> None:
    """`chain_fence` of measurements/h200/shared_adds.csv: 977 to 1,210 cycles a link of 132 blocks."""
    fenced = CHAIN.replace("said[blockIdx.x] = before", "__threadfence(); said[blockIdx.x] = before")
    link = (_microseconds(fenced, "chain", 1056) - _microseconds(fenced, "chain", 528)) * 1980 / 528
    assert 977 < link < 1210


def test_the_limit_of_a_chain_is_that_blocks_wait() -> None:
    run = wl.compile(source=CHAIN)["chain"].launch(528, 32, np.zeros(528, np.int32))
    assert type(run.predict("h200").time_us) is float  # a numpy.float64 was no number for the JSON of a program
    assert run.predict("h200").limit.startswith("each block waits for what one before it says")


def test_blocks_that_first_say_what_they_have_wait_for_few() -> None:
    short, long = (_microseconds(BACK, "back", blocks) for blocks in (132, 1056))
    assert short < 15  # a chain of as many takes 37
    assert 1.5 < (long - 3) / (short - 3) < 4  # the root of eight times as many


def test_a_loop_that_stores_does_not_wait() -> None:
    assert waiting_loads(wl.compile(source=COPY)["copy"].program) == []
    assert len(waiting_loads(wl.compile(source=CHAIN)["chain"].program)) == 1
