"""An L2 of two halves beside the slow obvious one, and beside an H200."""

from __future__ import annotations

import csv
import random
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

from helpers.snapshots import Snapshot
from warplens.machine import machine
from warplens.model.grid.dirty_sectors import DirtySectors
from warplens.model.grid.l2_partitions import allocated_lines, refetch_share
from warplens.model.grid.reuse_distance import ReuseDistance
from warplens.model.grid.sector_footprint import NOTHING, SectorFootprint
from warplens.model.grid.write_back import Evicted

MEASURED = Path(__file__).parents[3] / "measurements" / "h200" / "l2_patterns.csv"
HELD = 1000  # lines of a half


def misses(lines: int, pieces: int, uses: int) -> float:
    """Share of uses at random that reach DRAM, after as many that fill the caches; each half drops the line that has
    not been used for longest, and a line that comes has only the piece that was asked for."""
    rng, halves, found = random.Random(1), (OrderedDict[int, set[int]](), OrderedDict[int, set[int]]()), 0
    for use in range(2 * uses):
        line, piece, side = rng.randrange(lines), rng.randrange(pieces), rng.randrange(2)
        home = line % 2
        for half in (side, home) if side != home else (home,):
            there = halves[half].pop(line, set())
            hit = piece in there
            halves[half][line] = there | {piece}
            if len(halves[half]) > HELD:
                halves[half].popitem(last=False)
            if hit:
                break
        found += not hit and use >= uses
    return found / uses


@pytest.mark.every(4)
@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("lines", [1100, 1500, 2000, 4000])
def test_uses_at_random_miss_as_often_as_in_caches_of_which_each_use_is_followed(lines: int, pieces: int) -> None:
    unused = np.linspace(1e-4, 1, 20_001)
    places = lines * allocated_lines(1 - unused, -np.log(unused))
    left = float(np.interp(-2 * HELD, -places, unused))  # until both halves are full
    assert refetch_share(left, pieces - 1.0, 1.0) == pytest.approx(misses(lines, pieces, 60_000), abs=0.03)


def test_what_atomics_change_stands_at_home_only() -> None:
    assert refetch_share(0.3, 0.0, 0.0) == pytest.approx(0.3)
    assert refetch_share(0.3, 0.0, 1.0) > 0.3  # a home that is asked more seldom forgets sooner
    assert refetch_share(0.0, 1.0, 1.0) == 0
    assert refetch_share(1.0, 1.0, 1.0) == 1


def anywhere(blocks: int, each: int, places: int) -> SectorFootprint:
    """Blocks that reach places at random."""
    uses = each * blocks / places
    gaps = blocks * (1 - (1 - np.linspace(0, 1, 4000)) ** (1 / uses))
    return SectorFootprint(blocks, each, 0, 1, places, uses, places, 1, each, others_again=ReuseDistance(gaps))


@pytest.mark.parametrize("streams", ["", "both"])
@pytest.mark.parametrize("mebibytes", [16, 40, 48, 64, 96, 128])
def test_words_anywhere_come_from_dram_as_often_as_on_an_h200(mebibytes: int, streams: str, snapshot: Snapshot) -> None:
    """2^23 threads, of which each also reads and stores a word of a stream in the second case.  With 24 and 32 MiB,
    where L2 is just about full, up to a quarter is missing."""
    blocks, pieces = 1 << 15, mebibytes << 14
    reads, lines = [anywhere(blocks, 256, pieces)], [anywhere(blocks, 256, pieces // 2)]
    writes, changes = [NOTHING], [DirtySectors()]
    if streams:
        reads.append(SectorFootprint(blocks, 16, 0, 1, 16 * blocks, 1, 1 << 30, 16, 16))
        lines.append(SectorFootprint(blocks, 8, 0, 1, 8 * blocks, 1, 1 << 30, 8, 8))
        writes.append(SectorFootprint(blocks, 32, 0, 1, 32 * blocks, 1, 1 << 30, 32, 32))
        changes.append(DirtySectors(lines=8 * blocks))
    evicted = Evicted.of(reads, lines, writes, changes, blocks, machine("h200"))
    left = [evicted.dram_footprint(*each) for each in zip(reads, lines, writes, changes, strict=True)]
    with MEASURED.open(encoding="utf-8") as rows:
        table = {(r["what"], r["parameter"]): r for r in csv.DictReader(row for row in rows if row[0] != "#")}
    found = float(table[f"gather {streams}".strip(), f"{mebibytes} MiB"]["dram__bytes_read.sum"])
    assert snapshot(64 * sum(f.of(blocks) for f in left)) == pytest.approx(found, rel=0.1)
