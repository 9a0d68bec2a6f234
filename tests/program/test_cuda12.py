"""CUDA 12: programs with its static runtime."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


@pytest.mark.long
def test_the_runtime_in_a_program_is_replaced_by_that_of_its_version(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = run(capfd, tmp_path, built("static12.c", tmp_path))
    assert ran.out.splitlines() == [
        "0 NVIDIA H200 SXM 132 multiprocessors at 1980 MHz",
        "0 0 0 no such stream 400",
        "0 edges 1 before 1 capturing 0",
    ], ran.err
