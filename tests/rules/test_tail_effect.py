"""Tail effect: whole waves, and blocks that are left over."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.launch.tail_effect import TailEffectEvidence, tail_effect


def test_six_blocks_after_a_wave_of_264() -> None:
    found = tail_effect(counted("rules.cu/nearly_empty_wave"))
    assert found is not None
    assert found.evidence == TailEffectEvidence(264, 1, 6)
    assert found.weight == (1 - 270 / (2 * 264)) / 2
    assert found.line is None


def test_a_grid_below_one_wave_is_silent() -> None:
    assert tail_effect(counted("coalescing/1_ccopy")) is None
