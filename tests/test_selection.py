"""Which tests run: the fixed sample of `make test`, and everything with --long."""

from __future__ import annotations

import pytest

from helpers.selection import selected

CASES = """
import pytest

@pytest.mark.every(3)
@pytest.mark.parametrize("fast", range(3))
@pytest.mark.parametrize("slow", range(4))
def test_of_three(slow, fast): pass

@pytest.mark.every(4)
def test_alone(): pass

@pytest.mark.long
@pytest.mark.parametrize("n", range(510))
def test_long(n): pass

def test_usual(): pass
"""


@pytest.fixture(scope="module")
def items(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[pytest.Item]:
    """The tests of CASES, collected as those of any file."""
    path = tmp_path_factory.mktemp("cases") / "test_cases_of_selection.py"
    path.write_text(CASES)
    module = pytest.Module.from_parent(request.session, path=path)
    return [item for item in module.session.genitems(module) if isinstance(item, pytest.Item)]


def names(items: list[pytest.Item]) -> list[str]:
    return [item.name for item in items]


def test_the_sample_has_one_of_n_successive_cases_and_every_value_of_their_parameters(items: list[pytest.Item]) -> None:
    kept = names(selected(items, long=False))
    assert kept == [
        "test_of_three[0-0]", "test_of_three[1-1]", "test_of_three[2-2]", "test_of_three[3-0]", "test_alone",
        "test_long[8]", "test_long[507]", "test_usual",
    ]  # fmt: skip


def test_with_long_nothing_is_left_out(items: list[pytest.Item]) -> None:
    assert names(selected(items, long=True)) == names(items)
    assert len(items) == 12 + 1 + 510 + 1
