"""CUDA 12: programs with its static runtime or its shared one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from helpers.whole_program import built, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


PRINTED = [
    "0 NVIDIA H200 SXM 132 multiprocessors at 1980 MHz",
    "0 0 0 no such stream 400",
    "0 version 12",
    "0 edges 1 before 1 capturing 0",
]


@pytest.mark.long
def test_the_runtime_in_a_program_is_replaced_by_that_of_its_version(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran = run(capfd, tmp_path, built("static12.c", tmp_path))
    assert ran.out.splitlines() == PRINTED, ran.err


@pytest.mark.long
def test_its_shared_runtime_is_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capfd, tmp_path, built("static12.c", tmp_path, "-DSHARED", "-l:libcudart.so.12"))
    assert ran.out.splitlines() == PRINTED, ran.err


def test_a_shared_runtime_that_a_package_brings_is_replaced(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    theirs, program, versions = tmp_path / "libcudart.so.12", tmp_path / "static12", tmp_path / "versions"
    versions.write_text("libcudart.so.12 { global: cuda*; };")
    exported = "-DINSIDE=__attribute__((noinline,aligned(16))) int"
    built("static12.c", tmp_path, exported, "-shared", "-fPIC", f"-Wl,--version-script={versions}")
    program.rename(theirs)
    built("static12.c", tmp_path, "-DSHARED", str(theirs), "-Wl,--disable-new-dtags", f"-Wl,-rpath,{tmp_path}")
    ran = run(capfd, tmp_path, program)
    assert ran.out.splitlines() == PRINTED, ran.err
