"""What one multiprocessor's share of L2 holds of the lines that its warps come back to."""

from __future__ import annotations

import numpy as np
import pytest

from warplens.model.grid.neighbours import use_times
from warplens.model.sm.l2_share import Requester, holds_line, l2_share_table

LINES, MANY = 3712, 1 << 20


def kept(
    asked: list[int], halves: int, wave: int = 1, share: float = 1.0, at_home: bool = False, keys: float = 0.0
) -> float:
    """Of lines that are asked for again, those that are still there."""
    held = l2_share_table(LINES, MANY)
    found: list[bool] = []
    first: list[bool] = []
    seen: set[int] = set()
    for n, line in enumerate(asked):
        asker = Requester(share, keys, at_home, wave * n // len(asked) if wave > 1 else 0)
        there = holds_line(line, 3, asker, held, float(n), float(halves))
        (found if line in seen else first).append(there)
        seen.add(line)
    assert np.mean(first) > 0.99  # of what is asked for the first time reuse.py tells; few places stand for two lines
    return float(np.mean(found))


@pytest.mark.every(3)
@pytest.mark.parametrize(("lines", "halves", "least", "most"), [
    (LINES // 2, 1, 0.99, 1), (LINES * 2, 1, 0, 0.02), (LINES // 2, 2, 0.98, 1), (LINES * 4 // 5, 1, 0.5, 0.9),
])  # fmt: skip
def test_lines_round_after_round_stay_where_there_is_room_for_them(
    lines: int, halves: int, least: float, most: float
) -> None:
    assert least <= kept(list(range(7, 7 + lines)) * 4, halves) <= most


def test_two_halves_have_less_room_for_what_passes_through_once() -> None:
    """Lines that are read twice, others in between: a line from the other half takes two places."""
    apart = LINES * 3 // 10
    asked = [line for n in range(4 * apart) for line in ([n, n - apart] if n >= apart else [n])]
    assert kept(asked, 1) > 0.95
    assert kept(asked, 2) < 0.92
    assert kept(asked, 2, at_home=True) > 0.95


def test_what_other_waves_or_others_ask_for_is_not_in_this_book() -> None:
    asked = list(range(2 * LINES)) * 2
    assert kept(asked, 1) < 0.02
    assert kept(asked, 1, wave=2) > 0.99
    assert kept(asked, 1, share=0.0) == 1
    assert kept(asked, 1, share=0.25) > 0.98  # there is room for a quarter


def test_a_short_record_needs_no_book() -> None:
    assert l2_share_table(LINES, LINES // 2 - 1).tags.size == 0
    assert l2_share_table(LINES, LINES).tags.size > 0


@pytest.mark.every(3)
@pytest.mark.parametrize(("table", "least", "most"), [(0.5, 0.97, 1), (1.0, 0.6, 0.95), (2.0, 0.3, 0.6)])
def test_of_a_table_that_all_read_anywhere_l2_has_what_a_cache_would_have(
    table: float, least: float, most: float
) -> None:
    """One of 132 multiprocessors sees few words of the table twice, and each as often new as the least recently used
    of 132 times as many lines are: here only its own asks, which stand for those of all."""
    chance = np.random.default_rng(4)
    asked = chance.integers(0, int(132 * table * LINES), 12 * LINES).tolist()
    held = l2_share_table(LINES, MANY)
    found = []
    for n, line in enumerate(asked):
        found.append(holds_line(line, 3, Requester(1 / 132, table * LINES, False, 0), held, float(n), 1.0))
    assert least <= np.mean(found[len(found) // 2 :]) <= most


def test_blocks_in_step_are_told_from_those_that_come_at_any_time() -> None:
    lines, blocks = np.repeat(np.arange(500, dtype=np.uint32), 4), np.tile(np.arange(4, dtype=np.int32), 500)
    in_step = use_times(lines, blocks, np.repeat(np.linspace(0, 1, 500), 4))
    assert in_step == (0, 0, 1)
    at_any_time = use_times(lines, blocks, np.random.default_rng(1).random(2000))
    assert not at_any_time.in_step
    assert at_any_time == pytest.approx((1, 1, 1), abs=0.1)
    assert use_times(lines, np.zeros(2000, np.int32), np.linspace(0, 1, 2000)) == (0, 0, 1)
