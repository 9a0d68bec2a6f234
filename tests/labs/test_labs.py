"""Every lab at its small size: results, counts, and whether its files say what is printed today."""

from __future__ import annotations

from zlib import crc32

import pytest

from warplens.labs.catalog import find, names
from warplens.labs.keep import computed, rows_kept, stale_readme, stale_rows
from warplens.labs.lab import Lab
from warplens.labs.pictures import Gallery, stale_pictures
from warplens.labs.run import Size
from warplens.labs.rung import Rung

SMALL = Size.parse("small")
PREDICTED = 10  # one rung in so many, the same each time: a prediction takes longer than all counts


def sampled(rung: Rung) -> bool:
    return crc32(rung.entry.title.encode()) % PREDICTED == 0


@pytest.mark.parametrize("name", names())
def test_every_rung_computes_and_counts_what_its_lab_says(name: str) -> None:
    lab = find(name)
    with_times, counts = rows_kept(lab, "small"), rows_kept(lab, "small", times=False)
    wrong, stale, gallery = {}, [], Gallery(lab, "small")
    for done, rows in computed(lab, SMALL, predict=sampled):
        title = done.rung.entry.title
        wrong[title] = done.wrong
        gallery.see(done)
        old = (with_times if sampled(done.rung) else counts).get(title, [])
        stale += stale_rows(old, rows)
    assert {title: said for title, said in wrong.items() if said} == {}
    assert stale + stale_pictures(lab, gallery.drawn()) + stale_readme(lab) == [], f"run `warplens lab {name} --write`"


@pytest.mark.parametrize("name", names())
def test_every_cuda_file_of_a_lab_is_a_rung(name: str) -> None:
    lab: Lab = find(name)
    assert {path.name for path in lab.folder.glob("*.cu")} <= {rung.entry.file for rung in lab.rungs}
