"""Contended atomics: lanes per word of a histogram with four bins."""

from __future__ import annotations

import pytest

from rules.example_kernels import counted
from warplens.rules.memory.contended_atomics import ContendedAtomicsEvidence, contended_atomics


def test_thirty_two_lanes_share_four_bins() -> None:
    found = contended_atomics(counted("rules.cu/histogram"))
    assert found is not None
    assert isinstance(found.evidence, ContendedAtomicsEvidence)
    assert found.evidence.lanes_per_word == pytest.approx(8, rel=0.02)
    assert found.line is not None
