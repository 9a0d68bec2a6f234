"""Inactive lanes: the cause is divergence, a partial warp, or predicates."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.instructions.inactive_lanes import InactiveLanesEvidence, inactive_lanes


def test_a_block_of_sixteen_threads_fills_half_a_warp() -> None:
    found = inactive_lanes(counted("divergence/1b_cut_4x4"))
    assert found is not None
    assert isinstance(found.evidence, InactiveLanesEvidence)
    assert found.evidence.partial_block == 16
    assert found.evidence.threads <= 16
    assert found.line is None


def test_diverging_branches_are_named_with_a_line() -> None:
    found = inactive_lanes(counted("report.cu/odd"))
    assert found is not None
    assert isinstance(found.evidence, InactiveLanesEvidence)
    assert 0.01 <= found.evidence.divergent_branches < 1
    assert found.evidence.partial_block == 0
    assert found.line is not None


def test_full_warps_are_silent() -> None:
    assert inactive_lanes(counted("divergence/1c_cut_8x8")) is None


def test_predicated_instructions_are_no_divergence() -> None:
    found = inactive_lanes(counted("divergence/4_sum_modulo"))
    assert found is not None
    assert isinstance(found.evidence, InactiveLanesEvidence)
    assert (found.evidence.divergent_branches, found.evidence.partial_block) == (0, 0)
    assert found.line is not None
