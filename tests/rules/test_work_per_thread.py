"""Work per thread: indexing of a thread with one element."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.instructions.work_per_thread import WorkPerThreadEvidence, work_per_thread


def test_five_of_thirty_instructions_are_not_indexing() -> None:
    """Load, complement, store, the stack pointer and the descriptor of global memory."""
    found = work_per_thread(counted("rules.cu/byte_a_thread"))
    assert found is not None
    assert found.evidence == WorkPerThreadEvidence(30, 25)
    assert found.line is None


@pytest.mark.parametrize("example", ["coalescing/1_ccopy", "wide/1_scalar_char", "transpose/1_rows_read"])
def test_floats_and_loops_are_silent(example: str) -> None:
    assert work_per_thread(counted(example)) is None
