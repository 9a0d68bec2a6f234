"""wl.report(run, path)."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import warplens as wl


@pytest.fixture
def run() -> wl.Run:
    kernel = wl.compile(source='extern "C" __global__ void k(int* x) { x[threadIdx.x] = 1; }')["k"]
    return kernel.launch(1, 32, np.zeros(32, np.int32))


def test_writes_by_ending(run: wl.Run, tmp_path: Path) -> None:
    wl.report(run, tmp_path / "run.html")
    wl.report(run, tmp_path / "run.json")
    assert (tmp_path / "run.html").read_text().startswith("<!doctype html>")
    document = json.loads((tmp_path / "run.json").read_text())
    assert document["metrics"]["smsp__sass_inst_executed_op_global_st.sum"]["value"] == 1


def test_refuses_another_ending(run: wl.Run, tmp_path: Path) -> None:
    with pytest.raises(wl.UsageError, match=r"\.html and \.json are possible"):
        wl.report(run, tmp_path / "run.pdf")
