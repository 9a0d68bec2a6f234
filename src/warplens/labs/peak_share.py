"""Peak share: a rung's share of peak DRAM bandwidth or peak float throughput."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.launchspec.expression import Names, evaluate_ratio
from warplens.machine import Machine
from warplens.report.roofline import peak

LIMITS = {"bytes": "DRAM", "flops": "FP32"}


def least(work: Mapping[str, str], names: Names, machine: Machine) -> dict[str, float]:
    """Least microseconds of each part of the work, at published peak rates (10^9 a second)."""
    rates = {"bytes": float(machine.dram_gigabytes_per_second), "flops": peak(machine, "FP32")}
    return {part: float(evaluate_ratio(text, names) or 0) / rates[part] / 1000 for part, text in work.items()}


def share(work: Mapping[str, str], names: Names, machine: Machine, time_us: float) -> float | None:
    """Least time over `time_us`: 1 at the limit; None if the lab does not declare its work."""
    return max(least(work, names, machine).values()) / time_us if work else None


def limit(work: Mapping[str, str], names: Names, machine: Machine) -> str:
    """The resource that `share` refers to; "" without work."""
    times = least(work, names, machine)
    return LIMITS[max(times, key=lambda part: times[part])] if times else ""
