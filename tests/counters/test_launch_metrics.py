"""Metrics of the launch itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import warplens as wl
from helpers.hand_made_traces import kernel
from warplens.core.launch import Launch
from warplens.counters.launch_metrics import curve_metrics, launch_metrics
from warplens.counters.occupancy import curves
from warplens.machine import machine


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


DRAWN = json.loads((Path(__file__).parents[1] / "data" / "h200_occupancy_curves.json").read_text())["launches"]


@pytest.mark.parametrize("drawn", DRAWN, ids=lambda d: f"{d['block_threads']}-{d['shared_dynamic']}")
def test_curves_have_the_instances_that_nsight_prints(drawn: dict[str, Any]) -> None:
    launch = (drawn["registers"], drawn["block_threads"], 0, drawn["shared_dynamic"], drawn["barriers"])
    found = curve_metrics(curves(machine("h200"), *launch), reserved=1024, most=227 << 10)
    for name in ("register_count", "block_size", "shared_mem_size"):
        metric = found[f"launch__occupancy_per_{name}"]
        expected = [warps for warps, points in drawn[name] for _ in range(points)]
        assert [warps for _, warps in metric.instances] == expected
        assert metric.value == sum(expected)


def test_opcodes_are_instanced() -> None:
    run = wl.load("tests/data/kernels.sm_90.cubin")["ccopy"].launch(2, 128, None, None, 0)
    mix = run.metrics["sass__inst_executed_per_opcode"]
    assert mix.value == run["smsp__inst_executed.sum"]
    assert dict(mix.instances)["EXIT"] == 8
