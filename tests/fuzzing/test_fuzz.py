"""A fixed sample of the mutated inputs of fuzz.py, which has the long run."""

from __future__ import annotations

import pytest
from fuzz import run


@pytest.mark.parametrize(("sort", "count"), [("cubin", 150), ("launch", 3000)])
def test_only_results_and_errors_of_our_own(sort: str, count: int) -> None:
    ended = run(sort, 0, count)
    assert ended.total() == count
    assert ended["read"] > count // 50  # the mutations are not so wild that nothing gets through
    assert ended["CubinError"] + ended["UsageError"] > count // 5


@pytest.mark.long
def test_damaged_code_in_the_disassembler() -> None:
    assert run("listing", 0, 4).total() == 4


def test_no_warnings_of_python(recwarn: pytest.WarningsRecorder) -> None:
    run("launch", 0, 500)
    assert not list(recwarn)
