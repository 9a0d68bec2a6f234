"""Calls without a current context, as an H100 answers them (driver 580), and launches in steps."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run, write_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNELS = """
extern "C" __global__ void add(int* x, int step) { atomicAdd(x, step); }
"""


def test_streams_and_events_bring_their_context(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_kernels(tmp_path, KERNELS)
    monkeypatch.chdir(tmp_path)
    ran = run(capfd, tmp_path, built("no_context.c", tmp_path, "-lcudart", "-lcuda"))
    none = "cudaErrorDeviceUninitialized"
    assert ran.out.splitlines() == [
        "its own 1",
        f"current 0, default stream {none} {none} {none}, none {none} {none}",
        "limit 1 8650752",
        "limit 4 2048",
        "limit 5 64",
        "steps 200, no block cudaErrorInvalidValue",  # 4 + 4 of the first launch, and 64 threads that add 3
        "attached 1 ended 1",
    ], ran.err
    assert ran.document["missing"] == []
