"""The validation lists: their launches, and predictions beside measurements."""

from __future__ import annotations

from hashlib import sha256

import pytest

from helpers.programs import module_of
from validation.lists import FOLDER, LISTS, List
from warplens.commands.target import targets


def test_every_folder_with_measurements_is_a_list() -> None:
    assert sorted(LISTS) == sorted(folder.parent.name for folder in FOLDER.glob("*/h200"))


PREDICTED = [one for one in LISTS.values() if one.predicted and one.name != "first"]


@pytest.mark.parametrize("one", PREDICTED, ids=lambda one: one.name)
def test_every_launch_has_a_kernel_and_a_name_of_its_own(one: List) -> None:
    cases = list(one.cases())
    assert len(cases) >= 60
    assert len({case.name for case in cases}) == len(cases)
    assert all(f" {case.flags.kernel}(" in case.file.read_text() for case in cases)


def test_a_launch_can_be_made_of_it() -> None:
    (case,) = (c for c in LISTS["second"].cases() if c.name == "ccopy/n=65536")
    (target,) = targets(str(case.file), case.flags)
    assert target.launch.grid == (512, 1, 1)
    assert [a.text for a in target.arguments] == list(case.flags.args)


def test_predictions_of_long_launches_are_those_that_were_published_before_they_were_measured() -> None:
    """The digest stands in the message of the commit that added the file."""
    published = "f343bf8f43140358e7d57f9c6b03a6cc6071c1e962a25f2856bf1873f61b4796"
    assert sha256((FOLDER / "long" / "h200" / "predictions.csv").read_bytes()).hexdigest() == published


def test_nine_of_ten_long_launches_are_in_the_printed_interval() -> None:
    table = module_of("docs/validation_table.py", "validation_table")
    found = [launch for title, one in table.launches().items() if title in list(table.LISTS)[4:] for launch in one]
    long = [launch for launch in found if launch.times[0] >= 300]
    assert len(long) >= 90
    assert sum(map(table.told, long)) >= 0.9 * len(long)


def test_the_top_stall_reason_is_right_in_nine_of_ten_launches() -> None:
    """As predicted for the eleventh list today, beside what Nsight Compute read on an H200."""
    found = module_of("docs/validation_table.py", "validation_table").top_stalls()
    assert len(found) == 64
    assert sum(predicted == measured for _, predicted, measured, *_ in found) >= 0.9 * len(found)


SHORT = ("cenergyTiled/nx=90,ny=70,atoms=60", "matAdd2D/w=102,h=25", "pixel_shuffle_quads/c=3,h=60,w=70")
STALLS = module_of("docs/validation_table.py", "validation_table").rows(FOLDER / "settlers" / "h200" / "stalls.csv")


@pytest.mark.every(7)
@pytest.mark.parametrize("name", [n if n in SHORT else pytest.param(n, marks=pytest.mark.long) for n in STALLS])
def test_the_top_stall_reason_is_the_one_of_the_table(name: str) -> None:
    (case,) = (case for case in LISTS["settlers"].cases() if case.name == name)
    top = module_of("benchmarks/validation/stalls.py", "stalls").top
    reason, percent = top(case.target().run().predict("h200").stalls)
    assert reason == STALLS[name]["top"]
    assert percent == pytest.approx(float(STALLS[name]["percent"]), abs=2)
