"""Every lab at its small size: results, counts."""

from __future__ import annotations

import pytest

from warplens.labs.catalog import find, names
from warplens.labs.lab import Lab
from warplens.labs.run import Size, runs

SMALL = Size.parse("small")


@pytest.mark.parametrize("name", names())
def test_every_rung_computes_and_counts_what_its_lab_says(name: str) -> None:
    lab = find(name)
    wrong = {done.rung.entry.title: done.wrong for done in runs(lab, lab.rungs, SMALL, ["h200"], predict=False)}
    assert {title: said for title, said in wrong.items() if said} == {}


@pytest.mark.parametrize("name", names())
def test_every_cuda_file_of_a_lab_is_a_rung(name: str) -> None:
    lab: Lab = find(name)
    assert {path.name for path in lab.folder.glob("*.cu")} <= {rung.entry.file for rung in lab.rungs}
