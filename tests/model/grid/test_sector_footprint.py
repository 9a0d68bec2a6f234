"""Distinct sectors of a grid, from sampled blocks: kinds of sharing side by side in one buffer."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from helpers.sampled_footprints import sampled_footprint
from warplens.model.grid.simulated_blocks import random_blocks

TOTAL, SAMPLED = 64 * 64, 512


def drawn(own: int, shared: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sectors of randomly drawn blocks of a square grid, and their blocks: `own` that no other block reaches, and
    `shared` with all blocks of the same row."""
    blocks = np.random.default_rng(3).permutation(TOTAL)[:SAMPLED]
    mine = blocks[:, None] * own + np.arange(own)
    rows = TOTAL * own + (blocks // 64)[:, None] * shared + np.arange(shared)
    sectors = np.concatenate([mine.ravel(), rows.ravel()]).astype(np.uint32)
    return sectors, np.concatenate([np.repeat(blocks, own), np.repeat(blocks, shared)]).astype(np.int64), blocks


@pytest.mark.parametrize(("own", "shared"), [(4, 4), (8, 2), (2, 16)])
def test_sectors_of_one_block_beside_those_of_a_row(own: int, shared: int) -> None:
    found = sampled_footprint(*drawn(own, shared), TOTAL)
    assert found.of(TOTAL) == pytest.approx(TOTAL * own + 64 * shared, rel=0.05)
    assert found.of(64) == pytest.approx(64 * own + 64 * (1 - (1 - 64 / TOTAL) ** 64) * shared, rel=0.1)


def test_sectors_of_one_kind() -> None:
    assert sampled_footprint(*drawn(4, 0), TOTAL).of(TOTAL) == pytest.approx(4 * TOTAL, rel=0.05)
    assert sampled_footprint(*drawn(0, 4), TOTAL).of(TOTAL) == pytest.approx(4 * 64, rel=0.05)


def test_a_matrix_updated_by_its_first_row_and_column_is_read_once() -> None:
    """As lud of HeCBench does, of which 6 of 268 MB were predicted: an H200 reads all of it."""
    source = """
    extern "C" __global__ void update(float* m, int n) {
        int x = 16 + blockIdx.x * 16 + threadIdx.x, y = 16 + blockIdx.y * 16 + threadIdx.y;
        m[y * n + x] -= m[y * n + threadIdx.x] * m[threadIdx.y * n + x];
    }"""
    n = 2048
    grid = n // 16 - 1
    run = wl.compile(source=source)["update"].launch((grid, grid), (16, 16), np.zeros(n * n, np.float32), n)
    assert run.predict("h200").metrics["dram__bytes_read.sum"].value == pytest.approx(4 * n * n, rel=0.05)


def test_sectors_that_a_thousand_sampled_blocks_share_are_counted() -> None:
    """A vector that every second block reads: addBiasQKV of HeCBench ended with an OverflowError."""
    sampled, total = 2048, 8192
    chosen = np.array(random_blocks(total, sampled), np.int64)
    sectors = np.tile(np.arange(60, dtype=np.uint32), sampled // 2)
    assert sampled_footprint(sectors, np.repeat(chosen[::2], 60), chosen, total).of(total) == pytest.approx(60)
