"""Calls of the API that few programs make."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run, write_kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
KERNELS = """
__device__ int step = 3;
extern "C" __global__ void add(int* x) { *x += step; }
extern "C" __global__ void clear(int* x) { *x = 0; }
"""


def test_rare_calls(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kernels(tmp_path, KERNELS)
    monkeypatch.chdir(tmp_path)
    ran = run(capfd, tmp_path, built("api.c", tmp_path, "-lcudart", "-lcuda", "-ldl"))
    assert ran.out.splitlines() == [
        "batch 3 4 1 2 none cudaErrorInvalidValue",
        "range 0 -2",
        "values 5 10000000009 misaligned cudaErrorInvalidValue for ever cudaErrorNotSupported",
        "arrays 0 0 0 0 0 2 3 0 0 6 7 0",
        "kernels 2 add clear",
        "variable of 4 bytes, added 30, shared 113",
        "missing cudaErrorInvalidResourceHandle",
        "older 77",
        "wishes cache 2 policy -1 2 domain 1 unknown cudaErrorInvalidValue memory 1",
        "names cudaErrorInsufficientDriver cudaErrorUnsupportedLimit",
    ], ran.err
    assert ran.document["missing"] == ["cuStreamWaitValue for a value that is written later"]


def test_sharing_between_processes_and_green_contexts_are_refused_and_named_once(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    ran = run(capfd, tmp_path, built("refused.c", registered.parent, "-lcudart", "-lcuda"))
    words = ("memory handle", "event handle", "pool", "physical memory", "green context", "resource")
    refused = [f"{word} cudaErrorNotSupported" for word in words]
    assert ran.out.splitlines() == [*refused, *refused, "events 0 pools 0 last error 801"], ran.err
    assert ran.document["missing"] == [
        "cudaIpcGetMemHandle",
        "cudaIpcGetEventHandle",
        "pools that processes share (cuMemPoolCreate)",
        "memory that processes share (cuMemCreate)",
        "cuGreenCtxCreate",
        "cuDeviceGetDevResource",
    ]
