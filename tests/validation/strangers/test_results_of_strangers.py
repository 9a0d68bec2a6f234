"""Everyday kernels of public suites' kinds: what they leave."""

from __future__ import annotations

import numpy as np

from validation.lists import LISTS
from warplens.commands.validate import Emulated
from warplens.core.run_options import USUAL

CASES = LISTS["strangers"].first_cases()


def ran(name: str) -> list[np.ndarray]:
    return [a.copy() for a in Emulated(CASES[name].target(), USUAL, None).arrays]


def test_tiles_of_a_warp_vote_for_themselves() -> None:
    """All tiles come to one WARPSYNC.COLLECTIVE, each with a mask of its own."""
    values, _, ranks = ran("tiles_of_eight")
    tile, lane = values.reshape(-1, 8), np.arange(8)
    for t, row in enumerate(tile):
        first = 8 * (t % 9 % 4)
        groups = (row * 4).astype(int)
        peers = [sum(1 << (first + int(k)) for k in lane if groups[k] == g) for g in groups]
        want = [(int((row > 0).sum()) * 100 + int(k) + (p >> first)) for k, p in zip(lane, peers, strict=True)]
        assert ranks.reshape(-1, 8)[t].tolist() == want


def test_the_way_of_least_weight_through_a_wall() -> None:
    wall, first, out = ran("pathfinder")
    row = first.astype(np.int64)
    for line in wall.reshape(-1, 800)[:8]:
        row = np.minimum(np.minimum(np.r_[1 << 20, row[:-1]], row), np.r_[row[1:], 1 << 20]) + line
    assert (out[:784] == row[:784]).all()  # as far as the blocks reach


def test_eight_queens_have_92_solutions() -> None:
    (count,) = ran("queens")
    assert count[:64].sum() == 92


def test_sorted_runs_of_a_thread() -> None:
    (data,) = ran("quick_sort")
    assert (np.diff(data.reshape(-1, 40), axis=1) >= 0).all()


def test_a_knapsack_is_filled_best() -> None:
    weights, values, best = ran("knapsack")
    for block in range(3):
        room = np.zeros(400, np.int64)
        for w, v in zip(weights[40 * block : 40 * block + 40], values[40 * block : 40 * block + 40], strict=True):
            room[w:] = np.maximum(room[w:], room[:-w] + v)
        assert best[block] == room[-1]


def test_a_sort_of_a_block_by_sixteen_bits() -> None:
    keys, values, sorted_, moved = ran("block_sort")
    for block in range(3):
        part = slice(512 * block, 512 * block + 512)
        order = np.argsort(keys[part] >> 4 & 0xFFFF, kind="stable")
        assert (sorted_[part] == keys[part][order]).all()
        assert (moved[part] == values[part][order]).all()
