"""Causes that are found from the figures of a prediction."""

from __future__ import annotations

import numpy as np

import warplens as wl
from warplens.model.result.bottleneck import AtomicBacklog, BlockLaunchRate


def test_many_empty_blocks_are_limited_by_their_start() -> None:
    source = 'extern "C" __global__ void leave(int n, int* out) { if (n) *out = n; }'
    run = wl.compile(source=source)["leave"].launch(1 << 20, 32, 0, np.zeros(1, np.int32), sample=8)
    prediction = run.predict("h200")
    assert prediction.bottleneck is not None
    assert isinstance(prediction.bottleneck.cause, BlockLaunchRate)
    assert prediction.bottleneck.cause.blocks == 1 << 20
    assert "block" in prediction.limit


def test_atomics_that_go_on_after_the_last_warp_are_the_limit() -> None:
    source = 'extern "C" __global__ void count(unsigned* out) { atomicAdd(out + (clock() == 0), 1u); }'
    run = wl.compile(source=source)["count"].launch(2048, 256, np.zeros(2, np.uint32))
    prediction = run.predict("h200")
    assert prediction.bottleneck is not None
    assert isinstance(prediction.bottleneck.cause, AtomicBacklog)
    assert prediction.bottleneck.cause.time_percent > 90
    assert "after the last warp has ended" in prediction.limit
