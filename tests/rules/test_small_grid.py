"""Small grid: blocks against the SMs of the GPU."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.launch.small_grid import SmallGridEvidence, small_grid


def test_blocks_and_multiprocessors() -> None:
    subject = counted("divergence/2a_tail_1003")
    found = small_grid(subject)
    assert found is not None
    assert found.evidence == SmallGridEvidence(subject.launch.blocks, 132)
    assert found.weight == (1 - subject.launch.blocks / 132) / 8
