"""Latency bound: bytes under way against latency times bandwidth."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.machine import machine
from warplens.rules.memory.latency_bound import LATENCY_CYCLES, LatencyBoundEvidence, latency_bound, loads_under_way


def test_four_warps_with_one_load_each() -> None:
    found = latency_bound(counted("rules.cu/one_load_at_a_time"))
    assert found is not None
    assert isinstance(found.evidence, LatencyBoundEvidence)
    assert found.evidence[:3] == (4, 1, 4 * 128)
    h200 = machine("h200")
    per_second = 1e9 * h200.dram_gigabytes_per_second / h200.multiprocessors
    latency = LATENCY_CYCLES / (1e6 * h200.boost_megahertz)
    assert found.evidence.needed == int(per_second * latency)


@pytest.mark.parametrize(
    ("example", "loads", "size"),
    [("unrolling/1_once", 2, 128), ("unrolling/9_restrict", 8, 128), ("wide/3_wide4_float", 2, 512)],
)
def test_loads_before_the_first_use(example: str, loads: float, size: float) -> None:
    assert loads_under_way(counted(example)) == pytest.approx((loads, size), rel=0.01)


def test_a_launch_too_small_for_a_steady_state_is_silent() -> None:
    assert latency_bound(counted("divergence/2d_tail_10000")) is None
