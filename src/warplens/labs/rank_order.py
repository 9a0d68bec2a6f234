"""Rank order: pairs of rungs that prediction and measurement order differently."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from warplens.report.lab.lab_table import LabRow

TIE = 0.01  # predicted times this close are unordered


def rank_inversions(rows: Sequence[LabRow], gpu: str) -> tuple[tuple[str, str], ...]:
    """Pairs of rungs whose order by time on the GPU is the reverse of the model's.

    Measured times whose spreads (10th to 90th percentile) overlap are unordered.
    """
    return tuple((a.title, b.title) for a, b in combinations(rows, 2) if _modelled(a, b, gpu) * _measured(a, b) < 0)


def _modelled(a: LabRow, b: LabRow, gpu: str) -> int:
    """1 if `a` is slower, -1 if it is faster, 0 if unordered."""
    if gpu not in a.predicted or gpu not in b.predicted:
        return 0
    first, second = a.predicted[gpu].time_us, b.predicted[gpu].time_us
    return 0 if abs(first - second) <= TIE * max(first, second) else 1 if first > second else -1


def _measured(a: LabRow, b: LabRow) -> int:
    one, other = a.measured, b.measured
    if one is None or other is None:
        return 0
    if (one.low_us or one.time_us) > (other.high_us or other.time_us):
        return 1
    return -1 if (other.low_us or other.time_us) > (one.high_us or one.time_us) else 0
