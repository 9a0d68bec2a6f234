"""Instruction sites: found once for a program, whatever its launches count."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.hand_made_traces import program
from warplens.core.program import Instruction
from warplens.counters import instruction_sites
from warplens.counters.instruction_sites import Site, sites_of

LISTING = """
LDG.E R3,desc[UR4][R2.64]
LD.E R4,desc[UR4][R2.64]
FADD R3,R3,R4
EXIT
"""


def loads_shared(site: Site) -> bool:
    return site.access is not None and site.spaces == {"shared"}


def is_addition(site: Site) -> bool:
    return site.base == "FADD"


def test_the_parts_of_generic_accesses_are_sites_of_their_own() -> None:
    sites = sites_of(program(LISTING), ("shared", "local"))
    assert sites.generic == [1]
    assert np.flatnonzero(sites.chosen(loads_shared)).tolist() == [4]
    assert sites.chosen(loads_shared).size == 6


def test_weights_are_asked_of_selected_instructions_alone_and_once() -> None:
    asked: list[str] = []

    def weight(instruction: Instruction) -> int:
        asked.append(instruction.base)
        return 7

    listing = program(LISTING)
    for _ in range(2):
        assert sites_of(listing, ("shared",)).factors(weight, is_addition).tolist() == [0, 0, 7, 0, 1]
    assert asked == ["FADD"]


def test_few_programs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_sites, "MOST_KNOWN", 2)
    monkeypatch.setattr(instruction_sites, "_known", {})
    first, second, third = (program(LISTING) for _ in range(3))
    kept = sites_of(first, ())
    sites_of(second, ())
    assert sites_of(first, ()) is kept
    sites_of(third, ())
    assert sites_of(first, ()) is kept
    assert len(instruction_sites._known) == 2
