"""What L2 has forgotten when it is used again, and what stores leave for DRAM to do."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from helpers.kernel_launches import written_module
from helpers.sampled_footprints import sampled_footprint
from helpers.snapshots import Snapshot
from warplens.calibration import source_of, trials
from warplens.calibration.trial import Buffer
from warplens.machine import Machine, machine
from warplens.model.grid.dirty_sectors import DirtySectors, dirty_sectors
from warplens.model.grid.neighbours import sharers
from warplens.model.grid.reuse_distance import BlockOrder, ReuseDistance, UseGaps, reuse_distance
from warplens.model.grid.sector_footprint import NOTHING, BlockSample, SectorFootprint, SectorUses, footprint
from warplens.model.grid.simulated_blocks import neighbourhoods, random_blocks
from warplens.model.grid.write_back import Evicted, WriteBack, blocks_for_bytes, bytes_moved, write_back
from warplens.model.trace.warp_streams import ReachedSectors

TOTAL, SAMPLED = 4096, 1024
MIB = 1 << 20


def seen(sectors: np.ndarray, blocks: np.ndarray) -> SectorFootprint:
    sampled = np.array(random_blocks(TOTAL, SAMPLED))
    some = np.isin(blocks, sampled)
    return sampled_footprint(sectors[some], blocks[some], sampled, TOTAL)


@pytest.mark.parametrize("words", [8192, 32768, 131072])
def test_of_words_anywhere_so_many_are_fetched_anew_as_a_cache_misses(words: int, snapshot: Snapshot) -> None:
    """Each block reads 64 words at random; a cache that holds what 1000 blocks move, least recently used first."""
    chance = np.random.default_rng(3)
    blocks = np.repeat(np.arange(TOTAL), 64)
    sectors = chance.integers(0, words, blocks.size)
    last: dict[int, int] = {}
    misses = 0
    for sector, block in zip(sectors.tolist(), blocks.tolist(), strict=True):
        misses += block - last.get(sector, -TOTAL) > 1000
        last[sector] = block
    assert snapshot(seen(sectors, blocks).miss_footprint(1000, 1000).of(TOTAL)) == pytest.approx(misses, rel=0.12)


def test_rows_that_are_read_in_turn_are_lost_bit_by_bit(snapshot: Snapshot) -> None:
    """64 rows of the grid, each block column reads the same 4 sectors: again after 64 blocks."""
    blocks = np.repeat(np.arange(TOTAL), 4)
    sectors = blocks % 64 * 4 + np.tile(np.arange(4), TOTAL)
    found = seen(sectors, blocks)
    assert found.miss_footprint(80, 200).of(TOTAL) == pytest.approx(256)
    assert snapshot(found.miss_footprint(10, 20).of(TOTAL)) == pytest.approx(4 * TOTAL, rel=0.05)
    assert 256 < found.miss_footprint(32, 96).of(TOTAL) < 3 * TOTAL


def test_blocks_side_by_side_share_what_is_still_there(snapshot: Snapshot) -> None:
    blocks = np.repeat(np.arange(TOTAL), 4)
    sectors = blocks // 4 * 4 + np.tile(np.arange(4), TOTAL)
    assert snapshot(seen(sectors, blocks).miss_footprint(8, 8).of(TOTAL)) == pytest.approx(TOTAL, rel=0.2)


def reached(sectors: list[int], covered: float, kind: int) -> ReachedSectors:
    n = len(sectors)
    return ReachedSectors(
        np.array(sectors, np.uint32), np.zeros(n, np.int32), np.full(n, kind, np.uint8),
        np.full(n, covered, np.float64), np.zeros(n),
    )  # fmt: skip


def test_what_a_block_stores_is_whole_or_a_part_alone_or_not() -> None:
    every = np.ones(2, bool)
    assert dirty_sectors(reached([0, 100], 4, 2), every, 2, every) == DirtySectors(
        lone=1.0, partial=1.0, bytes=4.0, lines=2
    )
    assert dirty_sectors(reached([0, 1], 32, 2), every, 1, every) == DirtySectors(
        lone=0.0, partial=0.0, bytes=32, lines=1
    )
    assert dirty_sectors(reached([5, 5], 16, 2), every, 1, every).partial == 0  # both halves of one
    assert dirty_sectors(reached([5, 5], 6.4, 2), every, 1, every).bytes == 12.8
    assert dirty_sectors(reached([0, 100], 4, 1), every, 0, every) == DirtySectors()  # loads


def test_a_sector_that_two_blocks_store_half_each_is_whole() -> None:
    both = reached([7, 7], 16, 2)._replace(blocks=np.array([0, 1], np.int32))
    asked = np.array([True, False])
    assert dirty_sectors(both, np.ones(2, bool), 1, asked).partial == 0
    assert dirty_sectors(both, asked, 1, asked).partial == 1


def test_seams_that_neighbours_share_are_counted_once(snapshot: Snapshot) -> None:
    """64 x 64 blocks of an image: each reaches 3 sectors of its own and 1 of each neighbour in its row."""
    grid = (64, 64, 1)
    number = np.arange(TOTAL)
    blocks = np.repeat(number, 5)
    sectors = blocks * 4 + np.tile(np.arange(5), TOTAL)
    assert sectors.max() < TOTAL * 4 + 1
    distinct = np.unique(sectors).size
    centres = random_blocks(TOTAL, 24)
    near = np.isin(blocks, neighbourhoods(centres, grid))
    by = sharers(sectors[near].astype(np.uint32), blocks[near], centres, grid)
    sampled = np.sort(random_blocks(TOTAL, SAMPLED))
    some = np.isin(blocks, sampled)
    ranks = np.searchsorted(sampled, blocks[some])
    uses = SectorUses(sectors[some].astype(np.uint32), ranks, np.zeros(ranks.size))
    found = footprint(uses, BlockSample(sampled, BlockOrder(TOTAL), 1.0, grid), 1 << 30, by)
    assert snapshot(found.of(TOTAL)) == pytest.approx(distinct, rel=0.02)


def test_parts_of_sectors_are_filled_up_and_the_last_stores_stay_in_l2() -> None:
    h200 = machine("h200")
    million = SectorFootprint(
        TOTAL, 512, 0, 1, 512 * TOTAL, 1, 1 << 30, 512, 512
    )  # 64 MiB of sectors, each by one block
    nothing = SectorFootprint(1, 0, 0, 1, 0, 1, 0, 0)
    whole = written([nothing], [million], [DirtySectors(lines=128 * TOTAL)], TOTAL, h200)
    assert whole.filled == 0
    held = (h200.speeds.dirty_share - h200.microarchitecture.dirty_before) * h200.l2_bytes  # that is written as well
    assert whole.sectors * 32 == pytest.approx(64 * MIB - held, rel=0.01)
    assert 0.5 < whole.writing < 0.7  # of 64 MiB 28 stay
    few = replace(million, each=64, others=64 * TOTAL, accesses=64)  # 8 MiB: loads need not wait for DRAM to write them
    assert written([nothing], [few], [DirtySectors(lines=16 * TOTAL)], TOTAL, h200).writing == 0
    parts = written([nothing], [million], [DirtySectors(1.0, 1.0, 4.0, 512 * TOTAL)], TOTAL, h200)
    assert parts.filled == 512 * TOTAL
    assert parts.sectors > whole.sectors
    assert parts.stores[0] > 4 * whole.stores[0]  # a sector alone
    beside = written([nothing], [million], [DirtySectors(0.0, 1.0, 4.0, 512 * TOTAL)], TOTAL, h200)
    assert beside.fills[0] == 1  # each sector is filled once
    assert parts.fills[0] == pytest.approx(2 * h200.speeds.lone_half)


@pytest.mark.parametrize("blocks", [1, 100, TOTAL])
def test_so_many_blocks_move_so_many_bytes(blocks: int) -> None:
    """Each block reads 256 sectors of its own and stores 512: more than the whole grid moves is all blocks."""
    own = SectorFootprint(TOTAL, 256, 0, 1, 256 * TOTAL, 1, 1 << 30, 256, 256)
    stored = SectorFootprint(TOTAL, 512, 0, 1, 512 * TOTAL, 1, 1 << 30, 512, 512)
    size = bytes_moved([own, NOTHING], [NOTHING, stored], blocks)
    assert blocks_for_bytes(size, [own, NOTHING], [NOTHING, stored], TOTAL) == pytest.approx(blocks)
    assert blocks_for_bytes(2 * size * TOTAL, [own, NOTHING], [NOTHING, stored], TOTAL) == TOTAL


BYTES = """extern "C" __global__ void bytes(const unsigned char* x, unsigned* y, int n) {
  unsigned sum = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x) sum += x[i];
  if (sum == 12345) y[0] = sum;
}"""


@pytest.mark.parametrize("every", [1, 2])
def test_a_buffer_that_is_nearly_whole_by_the_sample_is_whole(every: int) -> None:
    """Blocks that lie half a grid apart share 16 sectors: of 2048 drawn some 64 pairs do, more or less by chance."""
    total = 8 * TOTAL
    sampled = np.array(random_blocks(total, 2048))
    blocks = np.repeat(sampled, 16)
    sectors = blocks % (total // 2) * 16 + np.tile(np.arange(16), 2048)
    whole = total // 2 * 16
    found = sampled_footprint(sectors, blocks, sampled, total, most=every * whole).of(total)
    assert found == whole if every == 1 else found < 1.3 * whole


@pytest.mark.parametrize("sampled", [500, 800, 1200])
def test_few_pairs_of_blocks_that_share_all_tell_nothing_of_chance(sampled: int) -> None:
    """Four blocks have 64 sectors together: some 200 pairs are seen, and three of four only now and then."""
    seen = np.array(random_blocks(4096, sampled))
    sectors = np.repeat(seen % 1024 * 64, 64) + np.tile(np.arange(64), sampled)
    found = sampled_footprint(sectors, np.repeat(seen, 64), seen, 4096)
    pairs = np.unique(seen % 1024, return_counts=True)[1]
    met = float((pairs * (pairs - 1) / 2).sum())
    assert found.common or found.shared == pytest.approx(1 + 2 * met / sampled * 4095 / (sampled - 1), rel=0.03)


def written(
    reads: list[SectorFootprint], writes: list[SectorFootprint], parts: list[DirtySectors], total: int, gpu: Machine
) -> WriteBack:
    evicted = Evicted.of(reads, [held_by(f) for f in reads], writes, parts, total, gpu)
    return write_back(reads, writes, parts, evicted, total, gpu)


@pytest.mark.every(3)
@pytest.mark.parametrize("uses", [2, 8, 32])
@pytest.mark.parametrize("by_chance", [False, True])
def test_sectors_shared_by_as_many_and_by_chance_are_told_apart(uses: int, by_chance: bool, snapshot: Snapshot) -> None:
    """Of 2^14 blocks with 16 uses each 2048 are seen: chance leaves out some sectors, and gives others many uses."""
    total, each = 1 << 14, 16
    rng, places = np.random.default_rng(1), total * each // uses
    of_all = rng.integers(0, places, total * each) if by_chance else rng.permutation(np.arange(total * each) % places)
    seen = np.array(random_blocks(total, 2048))
    found = sampled_footprint(of_all.reshape(total, each)[seen].ravel(), np.repeat(seen, each), seen, total)
    assert snapshot(found.of(total)) == pytest.approx(np.unique(of_all).size, rel=0.06)


def held_by(read: SectorFootprint) -> SectorFootprint:
    """The lines of these pieces: those that are used in turn both at once, the others each for itself."""
    again, both = read.others_again, 1.0 if read.others_again.turn or read.shared == 1 else 2.0
    return replace(
        read, others=read.others / 2, shared=both * read.shared, most=read.most // 2,
        others_again=replace(again, gaps=again.gaps / both),
    )  # fmt: skip


AGAIN = Path(__file__).parents[3] / "measurements" / "h200" / "l2_again.csv"


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("what", "mebibytes"),
    [
        ("twice read", 32),
        ("twice read", 48),
        ("twice stored", 16),
        ("twice stored", 20),
        ("twice stored", 24),
        ("twice stored", 28),
        ("adds beside loads", 40),
    ],
)
def test_what_is_used_again_comes_from_dram_as_often_as_on_an_h200(
    what: str, mebibytes: int, snapshot: Snapshot
) -> None:
    with AGAIN.open(encoding="utf-8") as lines:
        rows = csv.DictReader(line for line in lines if line[0] != "#")
        found = {(row["what"], int(row["mebibytes"])): float(row["dram__bytes_read.sum"]) for row in rows}
    blocks = 2 * mebibytes * MIB // 4096
    pieces, apart = mebibytes * MIB // 64, np.full(1000, blocks / 2)
    gaps = UseGaps(apart, np.zeros(1000), apart)
    if what == "adds beside loads":  # each block at random, and 32 KB of a stream
        blocks = 1056
        anywhere = SectorFootprint(blocks, 8192, 0, 1, pieces, 8192 * blocks / pieces, pieces, 1, 8192)
        chance = np.random.default_rng(1).exponential(pieces / 8192, 4000)
        reads = [replace(anywhere, others_again=ReuseDistance(np.sort(chance)))]
        reads.append(SectorFootprint(blocks, 512, 0, 1, 512 * blocks, 1, 1 << 30, 512, 512))
        writes, changes = [anywhere, NOTHING], [DirtySectors(atomic=1.0, lines=pieces / 2), DirtySectors()]
    else:
        reads = [
            SectorFootprint(
                blocks, 64, 0, 1, pieces, 2, pieces, 64, 64, others_again=reuse_distance(gaps, 2, 2, BlockOrder(blocks))
            ),
            NOTHING,
        ]
        output = SectorFootprint(blocks, 128, 0, 1, 128 * blocks, 1, 1 << 30, 128, 128) if "stored" in what else NOTHING
        writes, changes = [NOTHING, output], [DirtySectors(), DirtySectors(lines=32 * blocks)]
    evicted = Evicted.of(reads, [held_by(f) for f in reads], writes, changes, blocks, machine("h200"))
    left = [evicted.dram_footprint(f, held_by(f), w, c) for f, w, c in zip(reads, writes, changes, strict=True)]
    assert snapshot(sum(f.of(blocks) for f in left) * 64) == pytest.approx(found[what, mebibytes], rel=0.1)


def recent(sectors: np.ndarray, blocks: np.ndarray, window: int) -> float:
    """Different sectors of so many blocks in a row, on average: counted."""
    starts = range(TOTAL // 4, 3 * TOTAL // 4, 97)
    return float(np.mean([np.unique(sectors[(blocks >= at) & (blocks < at + window)]).size for at in starts]))


@pytest.mark.parametrize("window", [8, 100, 1000])
def test_the_last_blocks_have_reached_so_many_sectors(window: int, snapshot: Snapshot) -> None:
    """Of a product: 64 blocks in a row share a row of one matrix, and each 64th a column of the other."""
    blocks = np.repeat(np.arange(TOTAL), 8)
    of_8 = np.tile(np.arange(8), TOTAL)
    for shares in (blocks // 64, blocks % 64, blocks):
        sectors = shares * 8 + of_8
        found = sampled_footprint(sectors, blocks, np.arange(TOTAL), TOTAL)
        windows = np.concatenate([[0.0], np.geomspace(0.5, TOTAL, 48)])
        assert snapshot(np.interp(window, windows, found.working_set(windows))) == pytest.approx(
            recent(sectors, blocks, window), rel=0.25
        )


def counted(name: str) -> float:
    """Bytes that DRAM of an H200 wrote in a trial of the calibration."""
    path = Path(__file__).parents[3] / "measurements" / "h200" / "calibration_counters.csv"
    with path.open(encoding="utf-8") as rows:
        found = {f"{row['what']}, {row['parameter']}": row for row in csv.DictReader(rows)}
    return float(found[name]["dram__bytes_write.sum"])


KEPT = {trial.name: trial for trial in trials(132) if trial.subject == "kept"}


@pytest.mark.every(7)
@pytest.mark.parametrize("name", ["loads beside stores, 16 MiB", "rounds together, 40 MiB"])
def test_dram_writes_as_much_as_an_h200_counts(name: str, snapshot: Snapshot) -> None:
    """What is read again and again takes the place of stores; a kernel that only reads makes DRAM write 2.4 MB."""
    trial = KEPT[name]
    arguments = [np.zeros(a.bytes // 4, np.float32) if isinstance(a, Buffer) else a for a in trial.args]
    run = written_module(source_of("kept"))[trial.kernel].launch((trial.grid,), (trial.block,), *arguments)
    assert snapshot(run.predict("h200").metrics["dram__bytes_write.sum"].value) == pytest.approx(
        counted(name), rel=0.08
    )


def test_of_64_bytes_that_dram_gives_the_half_that_is_asked_for_next_hits(snapshot: Snapshot) -> None:
    """A warp asks for 32 bytes, the next one for the rest while they come: of both and a look at home one hits."""
    n = 1 << 22
    arguments = np.ones(n, np.uint8), np.zeros(1, np.uint32), np.int32(n)
    found = wl.compile(source=BYTES)["bytes"].launch(264, 256, *arguments).predict("h200").metrics
    assert snapshot(found["dram__bytes_read.sum"].value) == pytest.approx(n, rel=0.02)
    assert snapshot(found["lts__t_sector_hit_rate.pct"].value) == pytest.approx(100 / 3, abs=8)


FIELDS = """struct Four { float v[4]; };
extern "C" __global__ void fields(Four* p) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  for (int k = 0; k < COUNT; ++k) p[i].v[k] = i;
}"""


def test_a_store_leaves_with_the_one_before_it_to_the_same_sectors(snapshot: Snapshot) -> None:
    """An H200 sends 4.49 M sectors of two stores to 4.19 M, and counts 47 % hits (calibration_lookups.csv)."""
    n = 1 << 18
    times = []
    for count in (1, 2):
        kernel = wl.compile(source=FIELDS.replace("COUNT", str(count)))["fields"]
        times.append(kernel.launch(n // 256, 256, np.zeros(4 * n, np.float32)).predict("h200").metrics)
    rates = [found["l1tex__t_sector_hit_rate.pct"].value for found in times]
    assert rates[0] == 0
    assert snapshot(rates[1]) == pytest.approx(47, abs=9)
