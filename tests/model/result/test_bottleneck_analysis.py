"""Causes that are found from the figures of a prediction."""

from __future__ import annotations

import numpy as np

import warplens as wl
from warplens.model.result.bottleneck import BlockLaunchRate


def test_many_empty_blocks_are_limited_by_their_start() -> None:
    source = 'extern "C" __global__ void leave(int n, int* out) { if (n) *out = n; }'
    run = wl.compile(source=source)["leave"].launch(1 << 20, 32, 0, np.zeros(1, np.int32), sample=8)
    prediction = run.predict("h200")
    assert prediction.bottleneck is not None
    assert isinstance(prediction.bottleneck.cause, BlockLaunchRate)
    assert prediction.bottleneck.cause.blocks == 1 << 20
    assert "block" in prediction.limit
