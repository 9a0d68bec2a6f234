"""Blocks in clusters: each other's shared memory, the cluster's barrier, names of blocks; counters as on an H200."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from launches import kernel

from warplens.errors import KernelFault, UnsupportedInstruction, UsageError
from warplens.host import USUAL
from warplens.target import Flags, targets
from warplens.validation import Emulated, with_record

ROOT = Path(__file__).parents[2]
FILE = str(ROOT / "tests" / "kernels" / "clusters.cu")
RECORD = str(ROOT / "measurements" / "h200" / "clusters.csv")
NAMES = ("cluster_histogram", "cluster_exchange", "cluster_push", "cluster_asm", "cluster_names", "cluster_own")


def emulated(name: str) -> Emulated:
    (target,) = targets(FILE, Flags(kernel=name))
    return Emulated(target, USUAL, None)


@pytest.mark.parametrize("name", NAMES)
def test_counts_as_on_an_h200(name: str) -> None:
    (agreement,) = with_record([emulated(name)], RECORD)
    assert len(agreement.rows) > 40
    assert agreement.equal, [(r.name, r.emulated.value, r.measured.value) for r in agreement.rows if not r.equal]


def test_a_histogram_whose_bins_are_spread_over_four_blocks() -> None:
    values, bins = emulated("cluster_histogram").arrays
    assert (bins == np.bincount(values & 255, minlength=256)).all()


def test_tiles_of_all_blocks_of_a_cluster_in_two_dimensions() -> None:
    values, out = emulated("cluster_exchange").arrays
    tiles = values.reshape(2, 2, 8, 2, 2, 32)  # rows: cluster, block, row; columns likewise
    parts = [tiles[:, r // 2, :, :, r % 2].astype(np.float32) * np.float32(r + 1) for r in range(4)]
    total = ((parts[0] + parts[1]) + parts[2]) + parts[3]  # rows: cluster, row, cluster, column
    found = out.reshape(2, 2, 8, 2, 2, 32)
    for y in (0, 1):
        for x in (0, 1):
            assert np.allclose(found[:, y, :, :, x], total + x + 2 * y, atol=1e-5)


def test_each_block_reads_its_neighbour() -> None:
    values, out = emulated("cluster_asm").arrays
    v = values.reshape(3, 2, 64)
    names = 1000 * np.arange(3)[:, None, None] + 300000
    assert (out.reshape(3, 2, 64) == v[:, ::-1] + 3 * v[:, ::-1] + v + 5 + names).all()


def test_a_kernel_of_the_reference() -> None:
    out = np.zeros(32, np.int32)
    kernel("k36_tma_wgmma.cu", "cl", "sm_90").launch(2, 32, out)
    assert (out == np.arange(32)).all()


def test_what_cannot_be_meant_is_refused() -> None:
    out = np.zeros(64, np.int32)
    with pytest.raises(UsageError, match=r"clusters are 2 x 1 x 1 blocks .* do not divide a grid of 3 x 1 x 1"):
        kernel("k36_tma_wgmma.cu", "cl", "sm_90").launch(3, 32, out)
    with pytest.raises(UsageError, match="cannot be sampled"):
        kernel("k36_tma_wgmma.cu", "cl", "sm_90").launch(8, 32, np.zeros(256, np.int32), sample=4)
    with pytest.raises(UnsupportedInstruction, match=r"neither its time nor checks"):
        kernel("k36_tma_wgmma.cu", "cl", "sm_90").launch(2, 32, out, check=("races",))
    with pytest.raises(KernelFault, match="outside the shared memory"):
        kernel("k36_tma_wgmma.cu", "cl", "sm_90").launch(2, 96, out)  # its array is for 64 threads
