"""Metrics of the launch itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hand_made import kernel

from warplens.counters.launch import launch_metrics
from warplens.launch import Launch


@dataclass(frozen=True)
class Held:
    registers: int = 40
    blocks: int = 8
    warps: int = 32
    percent: float = 50.0
    limits: Mapping[str, int] = field(default_factory=lambda: {"registers": 8, "warps": 16, "barriers": 16})


def test_launch_and_occupancy() -> None:
    values = launch_metrics(kernel(shared_bytes=512), Launch((4, 3, 2), (16, 4, 1), 64), Held(), 0.25)
    numbers = {name: metric.value for name, metric in values.items()}
    assert numbers["launch__grid_size"] == 24
    assert numbers["launch__registers_per_thread"] == 40
    assert numbers["launch__thread_count"] == 24 * 64
    assert numbers["launch__shared_mem_per_block_static"] == 512
    assert numbers["launch__shared_mem_per_block_dynamic"] == 64
    assert numbers["launch__shared_mem_per_block_driver"] == 1024
    assert numbers["launch__occupancy_limit_registers"] == 8
    assert numbers["launch__occupancy_limit_barriers"] == 16
    assert numbers["launch__waves_per_multiprocessor"] == 0.25
    assert numbers["smsp__maximum_warps_avg_per_active_cycle"] == 8


def test_older_chips_report_no_barrier_limit_and_turing_reserves_nothing() -> None:
    values = launch_metrics(kernel("sm_75"), Launch((1, 1, 1), (32, 1, 1)), Held())
    assert "launch__occupancy_limit_barriers" not in values
    assert "launch__waves_per_multiprocessor" not in values
    assert values["launch__shared_mem_per_block_driver"].value == 0
