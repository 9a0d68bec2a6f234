"""How near a rung is to what the GPU could do: its share of the bandwidth of DRAM or of the float lanes."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.launchspec.expression import Names, evaluate_ratio
from warplens.machine import Machine
from warplens.report.roofline import peak

LIMITS = {"bytes": "DRAM", "flops": "FP32"}


def least(work: Mapping[str, str], names: Names, machine: Machine) -> dict[str, float]:
    """Microseconds that each part of the work takes at the least, at published peak rates (10^9 a second)."""
    rates = {"bytes": float(machine.dram_gigabytes_per_second), "flops": peak(machine, "FP32")}
    return {part: float(evaluate_ratio(text, names) or 0) / rates[part] / 1000 for part, text in work.items()}


def share(work: Mapping[str, str], names: Names, machine: Machine, time_us: float) -> float | None:
    """Least time over `time_us`: 1 at the limit; None where the lab does not tell its work."""
    return max(least(work, names, machine).values()) / time_us if work else None


def limit(work: Mapping[str, str], names: Names, machine: Machine) -> str:
    """What `share` is a share of; "" without work."""
    times = least(work, names, machine)
    return LIMITS[max(times, key=lambda part: times[part])] if times else ""
