"""Every lab at its small size: results, counts, and whether its files say what is printed today."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from warplens.labs import lab_catalog
from warplens.labs.lab import Lab
from warplens.labs.lab_catalog import names
from warplens.labs.lab_pictures import Gallery, stale_pictures
from warplens.labs.run_lab import Size
from warplens.labs.stored_results import rows_kept, run_and_record, stale_readme, stale_rows

DOCS = Path(__file__).parents[2] / "docs" / "labs.md"
SMALL = Size.parse("small")
PREDICTED = 10  # every tenth rung: a prediction takes longer than all counts


find = cache(lab_catalog.find)  # reading 70 rungs takes longer than running most of them
RUNGS = [(name, rung.entry.title) for name in names() for rung in find(name).rungs]
TENSOR = ("attention", "tensor_gemm")  # up to 25 s a rung
CASES = [
    pytest.param(name, title, n % PREDICTED == 0, marks=[pytest.mark.long] * (name in TENSOR))
    for n, (name, title) in enumerate(RUNGS)
]


@pytest.mark.every(7)
@pytest.mark.parametrize(("name", "title", "predicted"), CASES)
def test_every_rung_computes_counts_and_draws_what_its_lab_says(name: str, title: str, predicted: bool) -> None:
    lab = find(name)
    (rung,) = lab.chosen([title])
    ((done, rows),) = run_and_record(lab, SMALL, predict=lambda _: predicted, rungs=[rung])
    assert done.wrong == ()
    gallery = Gallery(lab, "small")
    gallery.see(done)
    old = rows_kept(lab, "small", times=predicted).get(title, [])
    stale = stale_rows(old, rows) + stale_pictures(lab, gallery.drawn())
    assert stale == [], f"run `warplens lab {name} --write`"


@pytest.mark.parametrize("name", names())
def test_a_lab_keeps_what_its_rungs_say_and_no_more(name: str) -> None:
    lab = find(name)
    titles = [rung.entry.title for rung in lab.rungs]
    assert list(rows_kept(lab, "small")) == list(rows_kept(lab, "full")) == titles
    of_times = stale_pictures(lab, Gallery(lab, "full").drawn())
    assert stale_readme(lab) + of_times == [], f"run `warplens lab {name} --write`"


def test_the_table_of_lessons_names_every_rung() -> None:
    told: dict[str, set[str]] = {}
    for line in DOCS.read_text(encoding="utf-8").splitlines():
        if found := re.fullmatch(r"\| [A-L] \| .* \| `(\w+)` \| (.*) \|", line):
            told.setdefault(found[1], set()).update(found[2].split(", "))
    assert sorted(told) == names()
    for name, rungs in told.items():
        titles = [rung.entry.title for rung in find(name).rungs]
        assert [t for t in titles if not any(t == r or t.startswith(f"{r}_") for r in rungs)] == []
        assert [r for r in rungs if not any(t == r or t.startswith(f"{r}_") for t in titles)] == []


@pytest.mark.parametrize("name", names())
def test_every_cuda_file_of_a_lab_is_a_rung(name: str) -> None:
    lab: Lab = find(name)
    assert {path.name for path in lab.folder.glob("*.cu")} <= {rung.entry.file for rung in lab.rungs}
