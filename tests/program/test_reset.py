"""Ends of contexts: cudaDeviceReset, cuCtxDestroy."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


def test_a_reset_destroys_all_of_its_context(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    program = built("reset.c", registered.parent, "-lcudart", "-lcuda")
    ran = run(capfd, tmp_path, program, options=("--check", "leaks"))
    assert ran.out.splitlines() == [
        "scaled 4",
        "active 0",
        "free cudaErrorInvalidValue",
        "active 1",
        "copy cudaErrorInvalidValue",
        "stream cudaErrorInvalidResourceHandle",
        "event cudaErrorInvalidResourceHandle",
        "graph cudaErrorInvalidResourceHandle",
        "unregister cudaErrorHostMemoryNotRegistered",
        "given back 1",
        "scaled anew 1",
        "free cudaErrorInvalidValue",
        "module cudaErrorInvalidResourceHandle",
        "given back 1, still there 1",
        "destroyed cudaErrorContextIsDestroyed",
        "destroyed twice cudaErrorContextIsDestroyed",
    ], ran.err
    left = [finding["message"].split(":")[0] for finding in ran.document["check"]["findings"]]
    assert left == [
        "3 allocations of 4,608 bytes were not freed",
        "4,096 bytes were not freed",
        "2 allocations of 512 bytes were not freed",
    ]
