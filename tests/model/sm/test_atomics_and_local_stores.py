"""Atomics on few words, and stores to local memory, as an H200 does them (measurements/h200/calibration.csv)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.snapshots import Snapshot
from warplens.calibration.readings import read
from warplens.core.launch import Launch
from warplens.emulator import DeviceMemory, LaunchRequest, pass_arguments, record
from warplens.emulator.state import trace_format

RECORD = read(Path(__file__).parents[3] / "measurements" / "h200" / "calibration.csv")
SOURCE = r"""
extern "C" __global__ void crowd(unsigned* p, unsigned words, int apart, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;
  for (int r = 0; r < rounds; ++r) {
    at = at * 1664525u + 1013904223u;
    atomicAdd(p + (long)(((unsigned long long)(at ^ at >> 15) * words) >> 32) * apart, 1u + r);
  }
}
extern "C" __global__ void step(unsigned* p, unsigned words, int apart, int rounds) {
  unsigned at = (threadIdx.x + blockIdx.x * blockDim.x) * 2654435761u;
  for (int r = 0; r < rounds; ++r) {
    unsigned any = (at ^ r * 77u) * 1664525u;
    atomicAdd(p + r * apart + (unsigned)(((unsigned long long)any * words) >> 32), 1u + r);
  }
}
extern "C" __global__ void lanes(unsigned* p, unsigned words, unsigned step, unsigned ahead, int rounds) {
  unsigned warp = (threadIdx.x + blockIdx.x * blockDim.x) / 32;
  for (int r = 0; r < rounds; ++r)
    atomicAdd(p + ((threadIdx.x % 32 % words * step + warp * 1056u + r * ahead) & 0xfffffu), 1u + r);
}
extern "C" __global__ void floats(float* p) {
  for (int r = 0; r < 16; ++r) atomicAdd(p + (threadIdx.x + blockIdx.x * blockDim.x) / 32 * 32, 1.0f);
}
extern "C" __global__ void chosen(unsigned* p, const unsigned* at) { atomicAdd(p + at[threadIdx.x], 1u); }
extern "C" __global__ void chosen_long(unsigned long long* p, const unsigned* at) {
  atomicAdd(p + at[threadIdx.x], 1ull);
}
extern "C" __global__ void local(float* sink, int own, int rounds) {
  float a[32];
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int i = 0; i < 8; ++i) a[(r * 8 + i + own) & 31] = r + i;
  if (a[own & 31] == 12345.678f) sink[0] = a[(own + 3) & 31];
}
"""


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE, arch="sm_90")


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("words", "apart", "blocks", "threads", "rounds", "name"),
    [
        (256, 1, 132, 32, 32, "crowd add, 256 words every 1, 132 x 32"),
        (1, 1, 1056, 256, 4, "crowd add, 1 words every 1"),
        (32, 32, 1056, 256, 4, "crowd add, 32 words every 32"),
    ],
)
def test_atomics_of_many_on_few_words(
    module: wl.Module, words: int, apart: int, blocks: int, threads: int, rounds: int, name: str, snapshot: Snapshot
) -> None:
    p = np.zeros(words * apart, np.uint32)
    run = module["crowd"].launch((blocks,), (threads,), p, np.uint32(words), np.int32(apart), np.int32(rounds))
    assert snapshot(run.predict("h200").time_us) == pytest.approx(float(RECORD[name]["value"]), rel=0.25)


def test_stores_to_local_memory_go_on_to_l2(module: wl.Module, snapshot: Snapshot) -> None:
    run = module["local"].launch((132,), (256,), np.zeros(1, np.float32), np.int32(0), np.int32(64))
    measured = float(RECORD["local stores, 32 words, 1 blocks of 256"]["value"])
    assert snapshot(run.predict("h200").time_us) == pytest.approx(measured, rel=0.25)


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("words", "blocks", "threads"), [(1, 132, 32), (64, 132, 32), (64, 132, 128), (520, 132, 128), (520, 528, 256)]
)
def test_few_units_work_where_all_come_to_the_same_place_at_the_same_time(
    module: wl.Module, words: int, blocks: int, threads: int, snapshot: Snapshot
) -> None:
    p = np.zeros(180 * 520 + words, np.uint32)
    run = module["step"].launch((blocks,), (threads,), p, np.uint32(words), np.int32(520), np.int32(180))
    measured = float(RECORD[f"step, {words} words, {blocks} x {threads}"]["value"])
    assert snapshot(run.predict("h200").time_us) == pytest.approx(measured, rel=0.25)


@pytest.mark.every(4)
@pytest.mark.parametrize(("words", "step"), [(1, 1), (2, 1), (4, 1), (8, 1), (32, 1), (16, 4), (32, 8), (32, 1056)])
def test_a_multiprocessor_sends_atomics_in_pieces(module: wl.Module, words: int, step: int, snapshot: Snapshot) -> None:
    p = np.zeros(1 << 20, np.uint32)
    run = module["lanes"].launch((1,), (256,), p, *np.array([words, step, 1056 * 11, 64], np.uint32))
    measured = float(RECORD[f"passes add, {words} words every {step}, 1 x 256, 64 rounds"]["value"])
    assert snapshot(run.predict("h200").time_us) == pytest.approx(measured, rel=0.15)


def test_floats_wait_only_for_those_on_their_own_word(module: wl.Module, snapshot: Snapshot) -> None:
    """A word a warp: as fast as whole numbers, though to one word floats are added two and a half times as slowly."""
    run = module["floats"].launch((132,), (256,), np.zeros(132 * 256, np.float32))
    measured = float(RECORD["global add float a word a warp, 132 blocks"]["value"])
    assert snapshot(run.predict("h200").time_us) == pytest.approx(measured, rel=0.25)


@pytest.mark.every(4)
@pytest.mark.parametrize(("name", "size"), [("chosen", 4), ("chosen_long", 8)])
@pytest.mark.parametrize("most", [1, 2, 5, 8, 20, 64, 1000])
def test_a_record_says_how_many_lanes_of_an_atomic_meet(module: wl.Module, name: str, size: int, most: int) -> None:
    """Against counting them one by one."""
    kernel = module[name]
    at = np.random.default_rng(most).integers(0, most, 27).astype(np.uint32)
    memory = DeviceMemory()
    zeros = np.zeros(1000, np.uint64)
    passed = pass_arguments(kernel.kernel, name, [zeros, at], (), memory)
    launch, banks = Launch((1, 1, 1), (27, 1, 1), 0), kernel._link(memory)[0]
    streams = record(LaunchRequest(kernel.kernel, kernel.program, launch, passed.block, memory, banks), (0,))
    fields = (
        (trace_format.PASSES, trace_format.MOST_PASSES), (trace_format.FULLEST, trace_format.MOST_FULLEST),
    )  # fmt: skip
    found = [
        tuple(int(second) >> shift & most for shift, most in fields)
        for second in streams.words[1:]
        if int(second) >> trace_format.PASSES
    ]
    words, lanes = np.unique(at, return_counts=True)
    of_sector = [int(lanes[words // (32 // size) == sector].max()) for sector in np.unique(words // (32 // size))]
    assert (sum(of_sector), max(of_sector)) in found
