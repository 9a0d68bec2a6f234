"""Slow conversion: in loops only, and not those of a division or of doubles."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.instructions.slow_conversion import SlowConversionEvidence, slow_conversion


def test_a_conversion_a_round() -> None:
    subject = counted("rules.cu/converts_each_round")
    found = slow_conversion(subject)
    assert found is not None
    executed = subject["smsp__inst_executed.sum"] / subject.warps
    assert found.evidence == pytest.approx(SlowConversionEvidence(16 / executed, 16))
    assert found.line is not None
    assert "(int)" in subject.text_of(found.line)


@pytest.mark.parametrize("example", ["rules.cu/double_literals", "coalescing/2_nccopy", "reduction/1_neighboured"])
def test_doubles_and_divisions_are_silent(example: str) -> None:
    assert slow_conversion(counted(example)) is None
