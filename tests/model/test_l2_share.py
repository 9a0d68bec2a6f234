"""What one multiprocessor's share of L2 holds of the lines that its warps come back to."""

from __future__ import annotations

import numpy as np
import pytest

from warplens.model import places as p
from warplens.model.l2_share import book_of, keeps

LINES, MANY = 3712, 1 << 20


def kept(asked: list[int], halves: int, wave: int = 1, share: float = 1.0, at_home: bool = False) -> float:
    """Of lines that are asked for again, those that are still there."""
    held, servers, s = book_of(LINES, MANY), np.zeros(p.SERVERS), np.zeros(p.SETTINGS)
    s[p.HALVES] = halves
    found: list[bool] = []
    first: list[bool] = []
    seen: set[int] = set()
    for n, line in enumerate(asked):
        servers[p.L1_CLOCK] = n
        there = keeps(line, 3, share, at_home, wave * n // len(asked) if wave > 1 else 0, held, servers, s)
        (found if line in seen else first).append(there)
        seen.add(line)
    assert np.mean(first) > 0.99  # of what is asked for the first time reuse.py tells; few places stand for two lines
    return float(np.mean(found))


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
    assert book_of(LINES, LINES // 2 - 1)[0].size == 0
    assert book_of(LINES, LINES)[0].size > 0
