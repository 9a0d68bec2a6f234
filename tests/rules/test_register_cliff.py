"""Register cliff: how many registers fewer admit one block more."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.launch.register_cliff import RegisterCliffEvidence, register_cliff


def test_two_registers_halve_the_warps() -> None:
    found = register_cliff(counted("rules.cu/past_the_register_cliff"))
    assert found is not None
    assert found.evidence == RegisterCliffEvidence(34, 32, 32, 64)
    assert found.weight == 32 / 64 / 4


def test_a_grid_below_one_wave_is_silent() -> None:
    assert counted("resources/4_walk_26").occupancy.warps == 48
    assert register_cliff(counted("resources/4_walk_26")) is None
