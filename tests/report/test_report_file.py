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


def test_a_prompt_and_a_notebook_show_what_is_worth_knowing() -> None:
    module = wl.compile(source="__global__ void one(float* x) { x[threadIdx.x] = 1; }\n")
    kernel = module["one"]
    run = kernel.launch(1, 32, np.zeros(32, np.float32))
    assert repr(module) == "<Module for sm_90: one>"
    assert repr(kernel) == f"<kernel one for sm_90: {kernel.instructions} instructions, {kernel.registers} registers>"
    assert repr(run).startswith("<Run of one: small grid: 1 block uses at most 1 of the ")
    shown = run._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert shown.count("<") == 2
