"""--check says at most notes of kernels that are right: those of the tests with a launch block, and of labs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warplens.cli.main import main
from warplens.labs import lab_catalog
from warplens.labs.kernel_rung import KernelRung
from warplens.labs.run_lab import Size

TIERS = ()  # whatever runs them in production
TESTS = Path(__file__).parents[2]
EXCEPTIONS = {"clusters.cu"}  # blocks in clusters are not checked
FILES = [
    file
    for file in sorted((*TESTS.glob("kernels/*.cu"), *TESTS.glob("validation/*/*.cu")), key=lambda file: file.name)
    if file.name not in EXCEPTIONS and "\n// /// warplens\n" in "\n" + file.read_text("utf-8")
]
ALWAYS = {"report.cu"}


@pytest.mark.parametrize(
    "file", [pytest.param(f, marks=() if f.name in ALWAYS else pytest.mark.long, id=f.name) for f in FILES]
)
def test_right_kernels_have_no_race(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", str(file), "--check", "races", "--json", "--gpu", "none"])
    told = json.loads(capsys.readouterr().out)
    documents = told if isinstance(told, list) else [told]
    found = [hazard for document in documents for hazard in document.get("hazards", ())]  # one that failed has none
    assert [hazard for hazard in found if hazard["severity"] != "note"] == []


LABS = [
    ("tensor_gemm", "5_wgmma"), ("tensor_gemm", "6_tma"), ("tensor_gemm", "7_specialised"),
    ("tensor_gemm", "8_persistent"), ("attention", "5_wgmma_00"), ("attention", "6_pingpong_01"),
]  # fmt: skip
SIZES = {"tensor_gemm": "n=512", "attention": "n=512,heads=1"}
"""With more tiles than stages, so that these are used again."""


@pytest.mark.long
@pytest.mark.parametrize(("lab", "title"), LABS)
def test_right_asynchronous_kernels_have_no_finding(lab: str, title: str) -> None:
    """Products of warpgroups, TMA and mbarriers, with producers and consumers; in clusters nothing is checked."""
    (rung,) = lab_catalog.find(lab).chosen([title])
    assert isinstance(rung, KernelRung)
    target = rung.target(None, Size.parse(SIZES[lab]).names)
    assert target.run_with(target.fresh_values(), check=("all",)).hazards == ()
