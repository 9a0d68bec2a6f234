"""Contended atomics: lanes per word of a histogram with four bins."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from rules.example_kernels import counted
from warplens.rules.memory.contended_atomics import ContendedAtomicsEvidence, contended_atomics
from warplens.rules.memory.latency_bound import latency_bound


def test_thirty_two_lanes_share_four_bins() -> None:
    found = contended_atomics(counted("rules.cu/histogram"))
    assert found is not None
    assert isinstance(found.evidence, ContendedAtomicsEvidence)
    assert found.evidence.lanes_per_word == pytest.approx(8, rel=0.02)
    assert found.line is not None


HISTOGRAM = """__global__ void bins_of_bytes(const unsigned char* data, unsigned* bins) {
  atomicAdd(&bins[data[blockIdx.x * blockDim.x + threadIdx.x]], 1u);
}"""


@pytest.mark.parametrize(("bins", "fires"), [(256, True), (1 << 18, False)])
def test_warps_meet_on_few_words_although_lanes_seldom_do(bins: int, fires: bool) -> None:
    data = np.random.default_rng(1).integers(0, 256, 1 << 18, np.uint8)
    kernel = wl.compile(source=HISTOGRAM)["bins_of_bytes"]
    launch = kernel.launch(data.size // 256, 256, data, np.zeros(bins, np.uint32), gpu="h200").subject
    found = contended_atomics(launch)
    assert (found is not None) == fires
    if found is not None:
        assert isinstance(found.evidence, ContendedAtomicsEvidence)
        assert found.evidence.lanes_per_word < 1.5
        assert found.evidence.updates_per_word == data.size / bins
    assert latency_bound(launch) is None  # the loads are a small part of what is moved
