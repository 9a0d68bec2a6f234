"""Launches without counters: the program computes what it would with them; which they are, and what the report says."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.whole_program import PROGRAMS
from warplens.commands.run_program import ProgramOutput, run_program
from warplens.emulator.execute.tiering import TierPolicy
from warplens.emulator.state.check_set import UNCOUNTED
from warplens.program.launch_selection import LaunchSelection
from warplens.program.timing import time_prediction

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


def outcome(
    capfd: pytest.CaptureFixture[str], folder: Path, launches: str, **wishes: Any
) -> tuple[str, dict[str, Any], str]:
    """What the program printed, the document and the report."""
    capfd.readouterr()
    place = folder / "run.json"
    command = [sys.executable, str(PROGRAMS / "repeats.py")]
    output = ProgramOutput(json=str(place))
    assert run_program(command, "h200", output, selection=LaunchSelection.of(launches), **wishes) == 0
    printed, report = capfd.readouterr()
    return printed, json.loads(place.read_text()), report


def total(document: dict[str, Any], what: str) -> int:
    return sum(kernel[what] for kernel in document["kernels"])


@pytest.mark.long
def test_memory_is_what_it_is_with_counters(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_prediction, "MOST", 1)
    threaded = TierPolicy._threaded
    monkeypatch.setattr(TierPolicy, "_uncounted_pays", True)
    monkeypatch.setattr(TierPolicy, "_threaded", lambda tiers: None if tiers.checks & UNCOUNTED else threaded(tiers))
    printed, counted, _ = outcome(capfd, tmp_path, "all", memo=False)
    again, light, report = outcome(capfd, tmp_path, "first", memo=False)
    assert again == printed  # checksums of all memory after every step
    assert (total(counted, "uncounted"), len(counted["launches"])) == (0, total(counted, "launches"))
    assert total(light, "uncounted") == total(light, "launches") - 3
    assert "3 of " in report
    assert "launches counted; " in report
    for one, other in zip(counted["kernels"], light["kernels"], strict=True):
        assert other["metrics"] == one["metrics"]
        assert other["time_us"] == pytest.approx(one["time_us"], rel=0.05)


@pytest.mark.long
def test_a_selected_launch_is_counted_also_where_it_repeats_one_that_was_not(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, document, _ = outcome(capfd, tmp_path, "every:3")
    assert total(document, "uncounted") > 0
    assert len(document["launches"]) == -(-total(document, "launches") // 3)
    assert all(launch["metrics"]["smsp__inst_executed.sum"]["value"] for launch in document["launches"])


@pytest.mark.long
def test_checks_count_every_launch(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    _, document, report = outcome(capfd, tmp_path, "first", checks=("races",))
    assert total(document, "uncounted") == 0
    assert "without counters" not in report
