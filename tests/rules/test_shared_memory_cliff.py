"""Shared-memory cliff: how many bytes fewer admit one block more."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.launch.shared_memory_cliff import SharedMemoryCliffEvidence, shared_memory_cliff


def test_128_bytes_cost_a_block() -> None:
    found = shared_memory_cliff(counted("rules.cu/past_the_shared_cliff"))
    assert found is not None
    assert found.evidence == SharedMemoryCliffEvidence(28_288, 28_160, 56, 64)


def test_far_from_the_next_block_is_silent() -> None:
    assert shared_memory_cliff(counted("resources/6_shared_115200")) is None
