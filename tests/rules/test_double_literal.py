"""Double literal: nine multiply-adds with conversions."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.instructions.double_literal import DoubleLiteralEvidence, double_literal


def test_most_instructions_convert_or_compute_in_double_precision() -> None:
    subject = counted("rules.cu/double_literals")
    found = double_literal(subject)
    assert found is not None
    assert isinstance(found.evidence, DoubleLiteralEvidence)
    assert 0.5 < found.evidence.share < 1
    assert found.line is not None
    assert "0.999" in subject.text_of(found.line)
