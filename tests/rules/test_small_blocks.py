"""Small blocks: work of a block against the time between two starts."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.machine import machine
from warplens.rules.launch.small_blocks import SmallBlocksEvidence, small_blocks


def test_blocks_of_one_warp_with_eight_sectors() -> None:
    subject = counted("rules.cu/scale_by_warps")
    found = small_blocks(subject)
    assert found is not None
    h200 = machine("h200")
    instructions = subject["smsp__inst_executed.sum"] / subject.launch.blocks
    expected = SmallBlocksEvidence(instructions / 4 + 8, h200.multiprocessors / h200.speeds.block_rate, 32)
    assert found.evidence == pytest.approx(expected)


def test_blocks_that_all_start_at_once_are_silent() -> None:
    assert small_blocks(counted("coalescing/1_ccopy")) is None
