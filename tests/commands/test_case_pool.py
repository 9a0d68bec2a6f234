"""Case pool: every job is answered, also that of a process that dies."""

from __future__ import annotations

import os

import pytest

from warplens.commands.case_pool import answers


def square(number: int) -> int:
    if number < 0:
        os._exit(9)  # as a process that the system ends for want of memory
    return number * number


def died(number: int) -> int:
    return number


def test_in_this_process() -> None:
    assert list(answers(square, [3, 4], 1, died)) == [(0, 9), (1, 16)]
    assert list(answers(square, [], 4, died)) == []


@pytest.mark.long
def test_a_process_that_dies_takes_only_its_own_job() -> None:
    assert dict(answers(square, [3, -7, 4, 5], 2, died)) == {0: 9, 1: -7, 2: 16, 3: 25}
