"""--check races says at most notes of kernels that are right: those of tests/kernels with a launch block."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warplens.cli.main import main

TIERS = ()  # whatever runs them in production
KERNELS = Path(__file__).parents[2] / "kernels"
EXCEPTIONS = {"clusters.cu"}  # blocks in clusters are not checked
FILES = [
    file.name
    for file in sorted(KERNELS.glob("*.cu"))
    if file.name not in EXCEPTIONS and "\n// /// warplens\n" in "\n" + file.read_text("utf-8")
]
ALWAYS = {"report.cu", "stranger_particles.cu"}


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in ALWAYS else pytest.mark.long) for n in FILES])
def test_right_kernels_have_no_race(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["explain", str(KERNELS / name), "--check", "races", "--json", "--gpu", "none"])
    told = json.loads(capsys.readouterr().out)
    documents = told if isinstance(told, list) else [told]
    found = [hazard for document in documents for hazard in document.get("hazards", ())]  # one that failed has none
    assert [hazard for hazard in found if hazard["severity"] != "note"] == []
