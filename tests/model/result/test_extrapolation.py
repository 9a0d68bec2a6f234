"""Extrapolation from the simulated blocks of an SM to all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warplens.model.result.extrapolation import ROUNDING, cycles_of_all_blocks


def cycles(number: int, total: int, scale: float = 1.0, what_if: tuple[str, ...] = (), others: bool = False) -> float:
    chosen: Any = SimpleNamespace(blocks=range(number), of_blocks=total, resident=4, other_sms=others)
    history: Any = SimpleNamespace(ended=np.arange(1, number + 1) * 100.0)
    return cycles_of_all_blocks(1000.0, scale, history, chosen, what_if)


@pytest.mark.parametrize(
    ("scale", "expected"), [(1.0, 1000), (1 + ROUNDING / 2, 1000), (1.5, 1500), (0.5, 1000), (0.9, 1000)]
)
def test_where_all_blocks_were_simulated_only_longer_work_is_added(scale: float, expected: float) -> None:
    assert cycles(8, 8, scale) == expected
    assert cycles(8, 8, scale, ("no_divergence",)) == cycles(8, 8, scale, others=True) == 1000


def test_other_blocks_follow_at_the_rate_after_the_first_wave() -> None:
    assert cycles(8, 20) == 1000 + 100 * 12  # blocks of 4 SM slots end 100 cycles apart


def test_less_than_two_waves_are_repeated() -> None:
    assert cycles(5, 20) == 4000
