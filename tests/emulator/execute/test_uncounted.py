"""Launches without counters: memory, faults and output are those of a launch that is counted."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.launch import Launch
from warplens.emulator import LaunchTrace
from warplens.emulator import run as execute
from warplens.emulator.execute import tiering
from warplens.emulator.execute.tiering import TierPolicy
from warplens.emulator.state.check_set import NO_CHECKS, UNCOUNTED

SOURCE = """
#include <cuda_pipeline.h>
struct alignas(16) Wide { int x, y, z, w; };
extern "C" __global__ void moves(const int* in, double* d, Wide* q, short* h, unsigned* bins, int n) {
    __shared__ int row[128];
    __shared__ int copied[128];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, local[8];
    int j = in[i] % n, steps = 0;
    for (int k = in[i]; k > 1 && steps < 40; steps++) k = k & 1 ? 3 * k + 1 : k >> 1;
    for (int k = 0; k < 8; k++) local[(k + j) & 7] = k * steps;
    row[(t * 5) & 127] = j;
    __pipeline_memcpy_async(&copied[t], &in[(i * 7) % n], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    int other = row[(t * t) & 127] + local[j & 7] + copied[(t * 11) & 127];
    if (steps % 3) d[(i * 13) % n] = d[j] + other;
    Wide was = q[j];
    was.y += steps;
    was.w ^= other;
    if (j & 1) q[n + (i * 29) % n] = was;
    h[j] = (short)(i / 64);
    int* somewhere = steps & 1 ? &row[t] : (int*)&q[2 * n + i];
    *somewhere = atomicAdd(&bins[j & 63], 1u) + __shfl_xor_sync(~0u, other, 9);
    __syncthreads();
    bins[64 + i] = row[127 - t];
}
extern "C" __global__ void stray(int* x, int n) {
    x[threadIdx.x * 5] = 1;
    if (threadIdx.x == 40) x[n] = 2;
}
extern "C" __global__ void says(int* x) {
    printf("%d of %d\\n", x[threadIdx.x], (int)blockIdx.x);
    x[threadIdx.x] += 1;
}
"""
N = 1 << 11


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLENS_TIER", "whole")


def arrays() -> list[Any]:
    numbers = np.random.default_rng(3)
    quads = numbers.integers(0, 99, (3 * N, 4)).astype(np.int32)
    return [
        numbers.integers(1, 5000, N).astype(np.int32), numbers.random(N), quads, np.zeros(N, np.int16),
        np.zeros(64 + N, np.uint32), np.int32(N),
    ]  # fmt: skip


def again(run: wl.Run, counted: bool) -> tuple[LaunchTrace, dict[int, bytes]]:
    """Counts, and the memory that the launch changed."""
    assert run.again is not None
    memory = run.again.memory
    trace = execute(run.again, threads=1, counted=counted)
    content = {number: memory.view(number).tobytes() for number in memory.written}
    memory.undo()
    memory.release()
    return trace, content


def kernel(name: str) -> Any:
    return wl.compile(source=SOURCE, arch="sm_90")[name]


def test_memory_is_the_same_bit_for_bit() -> None:
    run = kernel("moves").launch((N // 128,), (128,), *arrays(), threads=1)
    (counted, expected), (light, found) = again(run, True), again(run, False)
    assert len(expected) == 4
    assert found == expected
    assert light.executed().tolist() == counted.executed().tolist() == run.counted.executed().tolist()


def test_there_are_no_other_counts() -> None:
    run = kernel("moves").launch((1,), (128,), *arrays(), threads=1)
    light, _ = again(run, False)
    assert not light.counted
    with pytest.raises(AssertionError, match="executed without counters"):
        _ = light.trace
    counts = light.read()
    assert counts["executed"].any()
    others = ("threads", "requests", "sectors", "wavefronts", "bytes", "divergent", "replays")
    assert not any(counts[name].any() for name in others)


def test_a_fault_is_the_same() -> None:
    run = kernel("stray").launch((1,), (32,), np.zeros(1024, np.int32), np.int32(5000), threads=1)
    assert run.again is not None
    request = replace(run.again, launch=Launch((1, 1, 1), (64, 1, 1)))
    told = []
    for counted in (True, False):
        with pytest.raises(wl.KernelFault) as fault:
            execute(request, threads=1, counted=counted)
        told.append((str(fault.value), fault.value.kind, request.memory.view(0).tobytes()))
        request.memory.undo()
        request.memory.release()
    assert told[0] == told[1]
    assert "out-of-bounds global write of 4 bytes" in told[0][0]


def test_what_it_prints_is_the_same() -> None:
    run = kernel("says").launch((2,), (32,), np.arange(32, dtype=np.int32))
    assert again(run, False)[0].printed == run.printed
    assert run.printed.count("\n") == 64


def test_code_that_counts_serves_until_other_code_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WARPLENS_TIER")
    monkeypatch.setattr(tiering, "_uncounted_seconds", defaultdict(float))
    known = {NO_CHECKS: "counts"}
    monkeypatch.setattr(tiering, "cached_code", lambda kernel, program, tile, checks: known.get(checks))
    monkeypatch.setattr(tiering, "compile_kernel", lambda *asked: known.setdefault(asked[-1], "light"))
    made = kernel("says")
    tiers = TierPolicy(made.kernel, made.program, 32, UNCOUNTED)
    needed = tiering.COUNTED_SECONDS * len(made.program.instructions)
    tiers.ended(0.9 * needed)
    assert tiers.initial() == "counts"
    replace(tiers, checks=NO_CHECKS).ended(needed)  # of a launch that is counted
    assert tiers.initial() == "counts"
    tiers.ended(0.2 * needed)
    assert tiers.initial() == "light"
    assert replace(tiers, checks=NO_CHECKS).initial() == "counts"
