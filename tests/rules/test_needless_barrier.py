"""Needless barrier: blocks of one warp, and barriers with nothing between."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.instructions.needless_barrier import NeedlessBarrierEvidence, needless_barrier


def test_five_rounds_of_one_warp() -> None:
    found = needless_barrier(counted("rules.cu/barriers_of_one_warp"))
    assert found is not None
    assert found.evidence == NeedlessBarrierEvidence(5, True)
    assert found.line is not None


def test_of_two_barriers_in_sequence_the_first_orders_nothing() -> None:
    subject = counted("rules.cu/barrier_twice")
    found = needless_barrier(subject)
    assert found is not None
    assert found.evidence == NeedlessBarrierEvidence(1, False)
    assert found.line is not None
    assert "__syncthreads" in subject.text_of(found.line)


@pytest.mark.parametrize("example", ["reduction/3_interleaved", "sgemm/8_double_buffered", "softmax/5_read_once"])
def test_barriers_between_accesses_are_silent(example: str) -> None:
    assert needless_barrier(counted(example)) is None
