"""Extrapolation from the simulated blocks of an SM to all of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warplens.model.result.extrapolation import ROUNDING, block_cycles, cycles_of_all_blocks


def cycles(number: int, total: int, scale: float = 1.0, what_if: tuple[str, ...] = (), others: bool = False) -> float:
    chosen: Any = SimpleNamespace(blocks=range(number), of_blocks=total, resident=4, other_sms=others, busy=0.0)
    ends = np.arange(1, number + 1) * 100.0
    history: Any = SimpleNamespace(began=np.maximum(ends - 400, 0), ended=ends)
    return cycles_of_all_blocks(1000.0, scale, history, chosen, what_if)


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("scale", "expected"), [(1.0, 1000), (1 + ROUNDING / 2, 1000), (1.5, 1500), (0.5, 1000), (0.9, 1000)]
)
def test_where_all_blocks_were_simulated_only_longer_work_is_added(scale: float, expected: float) -> None:
    assert cycles(8, 8, scale) == expected
    assert cycles(8, 8, scale, ("no_divergence",)) == cycles(8, 8, scale, others=True) == 1000


def test_other_blocks_follow_at_the_rate_after_the_first_wave() -> None:
    assert cycles(8, 20) == 1000 + 100 * 12  # blocks of 4 SM slots end 100 cycles apart


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.9])
def test_a_full_sm_goes_on_as_fast_as_before(spread: float) -> None:
    """Blocks of 400 cycles on 4 slots, of which each began some time after the one before: 100 cycles a block, whether
    they end in step or not, although some are half done when the first wave has ended."""
    starts = np.array([400.0 * wave + 100 * spread * slot for wave in range(3) for slot in range(4)])
    history: Any = SimpleNamespace(began=starts, ended=starts + 400)
    assert block_cycles(history, 4) == pytest.approx(100)


def test_less_than_two_waves_are_repeated() -> None:
    assert cycles(5, 20) == 4000
