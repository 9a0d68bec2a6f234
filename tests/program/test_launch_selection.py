"""Launch selection: which launches of a program are counted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warplens.core.launch import Launch
from warplens.errors import UsageError
from warplens.program.launch_selection import LaunchSelection, LaunchSelector

SMALL, LARGE = Launch((1, 1, 1), (32, 1, 1)), Launch((64, 1, 1), (256, 1, 1))
PROGRAM = [("app::add<float>", SMALL), ("app::add<float>", LARGE), ("scale", SMALL)] * 3


def selected(selection: LaunchSelection, launches: Sequence[tuple[str, Launch]] = PROGRAM) -> list[int]:
    selector = LaunchSelector(selection)
    found = []
    for number, launch in enumerate(launches):
        expected = selector.selects(*launch)
        assert selector.select(*launch) == expected
        found += [number] * expected
    assert selector.selected == len(found)
    return found


def test_the_first_of_each_kernel_and_launch_configuration_is_the_default() -> None:
    assert LaunchSelection.of() == LaunchSelection()
    assert selected(LaunchSelection()) == [0, 1, 2]


@pytest.mark.parametrize(
    ("launches", "expected"), [("all", list(range(9))), ("every:4", [0, 4, 8]), ("every:1", list(range(9)))]
)
def test_all_and_every_nth(launches: str, expected: list[int]) -> None:
    assert selected(LaunchSelection.of(launches)) == expected


@pytest.mark.parametrize("name", ["app::add<float>", "add", "regex:^add", "regex:fl.at"])
def test_only_launches_of_the_named_kernel_are_counted(name: str) -> None:
    assert selected(LaunchSelection.of("all", name)) == [0, 1, 3, 4, 6, 7]


def test_skip_and_count_regard_launches_that_match() -> None:
    assert selected(LaunchSelection.of("all", "add", skip=1, count=3)) == [1, 3, 4]
    assert selected(LaunchSelection.of("every:2", "add", skip=1)) == [1, 4, 7]
    assert selected(LaunchSelection.of("first", skip=4)) == [4, 5, 6]
    assert selected(LaunchSelection.of("first", count=2)) == [0, 1]
    assert selected(LaunchSelection.of("all", count=0)) == []


def test_whether_a_later_launch_can_be_counted() -> None:
    first = LaunchSelector(LaunchSelection())
    assert first.may_select("scale", SMALL)
    first.select("scale", SMALL)
    assert not first.may_select("scale", SMALL)
    assert first.may_select("scale", LARGE)
    limited = LaunchSelector(LaunchSelection.of("all", "scale", count=1))
    assert not limited.may_select("add", SMALL)
    assert limited.may_select("scale", SMALL)
    limited.select("scale", SMALL)
    assert not limited.may_select("scale", SMALL)


@pytest.mark.parametrize("launches", ["some", "every:", "every:0", "every:-1", "every:x", ""])
def test_other_words_are_refused(launches: str) -> None:
    with pytest.raises(UsageError, match=r"--launches .*possible: first, all, every:N"):
        LaunchSelection.of(launches)


def test_a_wrong_expression_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--kernel-name: 'regex:\(' is not a regular expression"):
        LaunchSelection.of("all", "regex:(")
