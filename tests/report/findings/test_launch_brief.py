"""Brief form of a launch: short, and with the numbers of the whole report."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import warplens as wl
from warplens.advice import advised
from warplens.report.findings import launch_brief
from warplens.report.headline import headline
from warplens.report.launch_view import LaunchView


@pytest.fixture(scope="module")
def view() -> LaunchView:
    x = np.zeros(1 << 20, np.float32)
    run = wl.compile("examples/copy.cu")["nccopy"].launch(8192, 128, x, x.copy(), np.int32(x.size), gpu="h200")
    return advised(run.timed(("ideal_access",))).subject


def test_sentences_have_time_counts_and_what_to_write_instead(view: LaunchView) -> None:
    lines = launch_brief.sentences(view)
    assert len(lines) <= launch_brief.SENTENCES
    assert lines[0].startswith("nccopy: ")
    text = "\n".join(lines)
    assert "Global Load: 262,144 sectors, 131,072 needed." in text
    assert f"{view['smsp__inst_executed.sum']:,} warp instructions" in text
    assert "Instead of (2 * i) % n: " in text
    assert "no measurable gain expected on NVIDIA H200 SXM." in text
    assert all(line.endswith(".") for line in lines)


def test_document_has_the_numbers_of_the_whole_one(view: LaunchView) -> None:
    made = launch_brief.document(view)
    assert view.prediction is not None
    assert made["time_us"] == round(view.prediction.time_us, 3)
    assert made["what_if_us"] == {"ideal_access": round(view.what_if["ideal_access"].time_us, 3)}
    assert made["moved"]["Global Load"] == {"moved": 262_144, "ideal": 131_072}
    assert [found["expression"] for found in made["findings"]][::2] == ["(2 * i) % n", "in[(2 * i) % n]"]


def test_document_stays_below_2_kb(view: LaunchView) -> None:
    long = tuple(replace(one, text=one.text * 8) for one in view.advice)
    made = launch_brief.document(replace(view, advice=long))
    assert 0 < len(made["findings"]) < 3
    assert len(json.dumps(made)) <= 2048


def test_without_a_time_there_is_what_to_write_but_no_gain() -> None:
    x = np.zeros(1 << 14, np.float32)
    run = wl.compile("examples/copy.cu")["nccopy"].launch(128, 128, x, x.copy(), np.int32(x.size), gpu="h200")
    found = advised(run).subject
    assert [one.gain for one in found.advice] == [None] * len(found.advice)
    assert found.advice[0].instead
    assert headline(found).startswith(f"nccopy: {found.advice[0].text}")
    assert launch_brief.document(found)["time_us"] is None
