"""Reuse of sectors by blocks that run in step, beside a cache to which each use is sent."""

from __future__ import annotations

import csv
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from helpers.sampled_footprints import sampled_footprint
from warplens.machine import machine
from warplens.model.grid.dirty_sectors import DirtySectors
from warplens.model.grid.reuse_distance import BlockOrder, UseGaps, reuse_distance
from warplens.model.grid.sector_footprint import NOTHING, SectorFootprint
from warplens.model.grid.simulated_blocks import random_blocks
from warplens.model.grid.write_back import Evicted

STEPS = 32  # of a tile, each with a sector of its row and one of its column


def misses(sectors: np.ndarray, times: np.ndarray, held: int) -> int:
    """Of a cache of so many sectors, least recently used first; uses of one time in any order."""
    found, cache = 0, OrderedDict[int, None]()
    for sector in sectors[np.argsort(times, kind="stable")].tolist():
        found += sector not in cache
        cache[sector] = None
        cache.move_to_end(sector)
        if len(cache) > held:
            cache.popitem(last=False)
    return found


def tile_uses(tiles: np.ndarray, across: int) -> tuple[np.ndarray, np.ndarray]:
    """Sectors of each tile's row and of its column, step by step."""
    row, column, steps = tiles // across, tiles % across, np.arange(STEPS)
    return row[:, None] * STEPS + steps, (1 << 16) + column[:, None] * STEPS + steps


@pytest.mark.parametrize("across", [8, 32])
def test_blocks_of_a_generation_share_a_row_and_generations_do_not(across: int) -> None:
    """A product of 1,024 tiles by 128 SMs: L2 holds less than one generation uses, and each reads it again."""
    total, in_step = 1024, 128
    order, numbers = BlockOrder(total, in_step), np.arange(total)
    blocks, progress = np.repeat(numbers, STEPS), np.tile((np.arange(STEPS) + 0.5) / STEPS, total)
    both, when = tile_uses(numbers, across), order.times(blocks, progress)
    of_generation = sum(np.unique(sectors[:in_step]).size for sectors in both)
    truth = misses(np.concatenate([each.ravel() for each in both]), np.tile(when, 2), of_generation // 2)
    sampled = random_blocks(total, 256)
    some = np.isin(blocks, sampled)
    found = [sampled_footprint(each.ravel()[some], blocks[some], sampled, order, progress[some]) for each in both]
    half = in_step / 2
    assert sum(each.miss_footprint(half, half).of(total) for each in found) == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize("sampled", [32, 128])
def test_persistent_blocks_in_step_use_a_tile_together(sampled: int) -> None:
    """128 blocks make 1,024 tiles of 32 rows, 16 rows side by side: one after the other they would read all anew."""
    total, rows, across = 128, 16, 32
    numbers = np.arange(total)
    tiles = numbers[:, None] + total * np.arange(1024 // total)
    band, place = tiles // (rows * across), tiles % (rows * across)
    made = (band * rows + place % rows) * across + place // rows
    both = [each.reshape(total, -1) for each in tile_uses(made.ravel(), across)]
    steps = both[0].shape[1]
    blocks, progress = np.repeat(numbers, steps), np.tile((np.arange(steps) + 0.5) / steps, total)
    order, chosen = BlockOrder(total, total), random_blocks(total, sampled)
    held = 3 * STEPS * 24  # what three tiles of each of 24 rows and columns are
    times = np.tile(order.times(blocks, progress), 2)
    truth = misses(np.concatenate([each.ravel() for each in both]), times, held)
    some = np.isin(blocks, chosen)
    found = [sampled_footprint(each.ravel()[some], blocks[some], chosen, order, progress[some]) for each in both]
    kept = 3 * total / (1024 / total)  # as much time, in blocks
    assert truth < times.size / 8
    assert sum(each.miss_footprint(kept, kept).of(total) for each in found) == pytest.approx(truth, rel=0.25)


def test_gaps_are_times() -> None:
    """Two blocks of one generation and one of the next use a sector at a half, a quarter and none of their work."""
    order = BlockOrder(200, 100)
    gaps = UseGaps.of(np.zeros(3, np.uint64), np.array([3, 50, 120]), np.array([0.5, 0.25, 0.0]), order)
    assert gaps.blocks.tolist() == [47, 70]
    assert gaps.times == pytest.approx([25, 50], abs=1e-3)
    assert gaps.progress.tolist() == [0.25, 0.25]


def test_few_gaps_tell_nothing_of_the_order() -> None:
    few = UseGaps(*(np.full(3, 100.0) for _ in range(3)))
    assert reuse_distance(few, 4, 2, BlockOrder(1000, 100)).is_random


RECORD = Path(__file__).parents[3] / "measurements" / "h200" / "calibration_lookups.csv"
N, SMS, SHARE = 4096, 132, 1 / 32  # floats in a row of either matrix; of all pieces, those that are looked at


def product_reads(edge: int, log2_pieces: int) -> list[SectorFootprint]:
    """Footprints of both matrices, by units of so many pieces of 64 bytes, of blocks that have a tile each."""
    across, pieces, steps = N // edge, np.arange(N // 16), np.arange(0, N, round(1 / SHARE))
    few, sampled = pieces[pieces % 64 < 2], np.sort(random_blocks(across * across, 64))
    order, found = BlockOrder(across * across, SMS), []
    rows = sampled[:, None] // across * edge + np.arange(edge)
    of_a = (rows[:, :, None] * pieces.size + few).reshape(64, -1)
    columns = sampled[:, None] % across * (edge // 16) + np.arange(edge // 16)
    of_b = (steps[:, None] * pieces.size + columns[:, None, :]).reshape(64, -1)
    for sectors, when in (
        (of_a, np.tile(few / pieces.size, edge)),
        (of_b, np.repeat(steps / N, edge // 16)),
    ):
        units = (sectors >> log2_pieces).ravel()
        blocks, progress = np.repeat(sampled, sectors.shape[1]), np.tile(when, 64)
        most = N * pieces.size >> log2_pieces
        found.append(sampled_footprint(units, blocks, sampled, order, progress, most, SHARE))
    return found


@pytest.mark.parametrize("edge", [32, 128])
def test_each_generation_of_a_product_reads_a_matrix_as_an_h200_does(edge: int) -> None:
    """With one block an SM; block by block it would be read once for each row of tiles, 128 to 32 times."""
    with RECORD.open(encoding="utf-8", newline="") as file:
        rows = {row["trial"]: row for row in csv.DictReader(file)}
    measured = float(rows[f"steps of tiles {edge}, n {N}, 1 blocks each, 256 between"]["dram__bytes_read.sum"])
    reads, lines, blocks = product_reads(edge, 0), product_reads(edge, 1), (N // edge) ** 2
    stores = [NOTHING, NOTHING], [DirtySectors(), DirtySectors()]
    evicted = Evicted.of(reads, lines, *stores, blocks, machine("h200"))
    found = [evicted.dram_footprint(*each).of(blocks) for each in zip(reads, lines, *stores, strict=True)]
    assert 64 * sum(found) == pytest.approx(measured, rel=0.15)
