"""Sources that a cubin's line table names: shown beside the cubin or below, and from nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import warplens as wl

SECRET = "what nobody else may read"


def pages(tmp_path: Path, *named: str, as_bytes: bool = False) -> Iterator[str]:
    """Reports of the kernels of a cubin in tmp_path/own, whose line table names a file for each."""
    kernels = (
        f'extern "C" __global__ void f{number}(float* y) {{\n#line 1 "{name}"\n  y[threadIdx.x] += {number};\n}}\n'
        for number, name in enumerate(named)
    )
    data = wl.compile(source="".join(kernels), arch="sm_90").cubin.data
    assert all(name.encode() in data or Path(name).name.encode() in data for name in named)
    cubin = tmp_path / "own" / "f.cubin"
    cubin.write_bytes(data)
    module = wl.load(data if as_bytes else cubin)
    for number, name in enumerate(named):
        run = module[f"f{number}"].launch(1, 32, np.zeros(32, np.float32))
        assert any(i.source and i.source.file == name for i in run.kernel.program.instructions)
        run.report(tmp_path / "page.html")
        yield (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("own/deep", "own/.hidden", "other"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("own/f.cu", "own/deep/f.cu", "own/.hidden/f.cu", "other/f.cu", "own/.f"):
        (tmp_path / name).write_text(f"// {SECRET}\n")
    (tmp_path / "own/link.cu").symlink_to(tmp_path / "other/f.cu")
    (tmp_path / "own/linked").symlink_to(tmp_path / "other")
    os.mkfifo(tmp_path / "own/pipe.cu")
    return tmp_path


SHOWN = ("own/f.cu", "own/deep/f.cu", "other/../own/f.cu")
HIDDEN = (
    "other/f.cu", "own/../other/f.cu", "own/link.cu", "own/linked/f.cu", "own/.hidden/f.cu", "own/.f", "own/pipe.cu",
    "own/none.cu", "own",
)  # fmt: skip


def test_shown(folder: Path) -> None:
    for name, page in zip(SHOWN, pages(folder, *(f"{folder}/{name}" for name in SHOWN)), strict=True):
        assert SECRET in page, name


def test_not_shown(folder: Path) -> None:
    for name, page in zip(HIDDEN, pages(folder, *(f"{folder}/{name}" for name in HIDDEN)), strict=True):
        assert SECRET not in page, name


def test_a_cubin_without_a_file_has_nothing_beside_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "own")
    (page,) = pages(folder, f"{folder}/own/f.cu", as_bytes=True)
    assert SECRET not in page


def test_ptx_may_name_sources_beside_it_alone(folder: Path) -> None:
    head = ".version 8.0\n.target sm_90\n.address_size 64\n"
    ptx = head + '.visible .entry f(.param .u64 p) {{\n.loc 1 1 0\nret;\n}}\n.file 1 "{}"\n'
    (folder / "own/f.ptx").write_text(ptx.format(f"{folder}/other/f.cu"))
    run = wl.compile(folder / "own/f.ptx", arch="sm_90")["f"].launch(1, 32, np.zeros(32, np.float32))
    assert run.subject.sources == {}
    (folder / "own/f.ptx").write_text(ptx.format(f"{folder}/own/f.cu"))
    run = wl.compile(folder / "own/f.ptx", arch="sm_90")["f"].launch(1, 32, np.zeros(32, np.float32))
    assert list(run.subject.sources) == [f"{folder}/own/f.cu"]
