"""The list of launches that predictions are validated on."""

from __future__ import annotations

from types import ModuleType

import pytest

from validation_lists import the_lists
from warplens.target import targets


@pytest.fixture(scope="module")
def launches() -> ModuleType:
    return the_lists()


@pytest.mark.parametrize(
    "name",
    [
        "LIST", "PRACTICE", "FIELD", "LADDERS", "GUESTS", "VISITORS", "TRAVELLERS", "NEWCOMERS", "WANDERERS",
        "SETTLERS", "LONG",
    ],
)
def test_every_launch_has_a_kernel_and_a_name_of_its_own(launches: ModuleType, name: str) -> None:
    cases = list(launches.cases(getattr(launches, name)))
    assert len(cases) >= 60
    assert len({case.name for case in cases}) == len(cases)
    assert all(f" {case.flags.kernel}(" in case.file.read_text() for case in cases)


def test_a_launch_can_be_made_of_it(launches: ModuleType) -> None:
    (case,) = (c for c in launches.cases() if c.name == "ccopy/n=65536")
    (target,) = targets(str(case.file), case.flags)
    assert target.launch.grid == (512, 1, 1)
    assert [a.text for a in target.arguments] == list(case.flags.args)
