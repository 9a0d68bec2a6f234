"""Low occupancy: the limiter, and shared memory that only the system takes."""

from __future__ import annotations

import numpy as np

from rules.example_kernels import counted
from warplens import compile
from warplens.rules.launch.low_occupancy import LowOccupancyEvidence, low_occupancy


def test_shared_memory_is_the_limiter() -> None:
    found = low_occupancy(counted("resources/6_shared_115200"))
    assert found is not None
    assert isinstance(found.evidence, LowOccupancyEvidence)
    assert found.evidence.limiters == ("shared_mem",)
    assert found.evidence.most == 64


def test_small_blocks_are_the_cause_and_not_the_shared_memory_of_the_system() -> None:
    kernel = compile(source="__global__ void k(float* y) { y[blockIdx.x * 32 + threadIdx.x] = 1; }", arch="sm_90")["k"]
    found = low_occupancy(kernel.launch(32 * 132, 32, np.zeros(32 * 32 * 132, np.float32)).subject)
    assert found is not None
    assert isinstance(found.evidence, LowOccupancyEvidence)
    assert found.evidence.limiters == ("blocks",)
