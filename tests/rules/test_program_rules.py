"""Rules of whole programs: each fires on one rung of labs/transfers and is silent on another, run as programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from helpers.whole_program import PROGRAMS, run
from warplens.machine import machine
from warplens.report.finding_text import format_program_evidence, format_program_finding
from warplens.rules import LinkCopies, ProgramActivity, WholeProgramRule, program_findings, program_rules
from warplens.rules.program.serial_transfers import SerialEvidence

pytest.importorskip("cuda.bindings", reason="the rungs use cuda.bindings")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
BYTES = 16 << 20  # of the rungs here: a sixteenth of theirs
OVERLAPPED = (256 << 20, 8)  # bytes and chunks, large ones: a busy host takes 0.1 ms from command to command
NOTHING = LinkCopies(0, 0, 0.0, np.zeros((0, 2), np.int64), np.zeros(0, np.int64))


@pytest.mark.parametrize("rule", program_rules(), ids=lambda rule: rule.fault)
def test_fires_on_the_first_rung_and_is_silent_on_the_second(
    rule: WholeProgramRule, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for example, fires in ((rule.fires, True), (rule.silent, False)):
        title = example.partition("/")[2]
        sizes = OVERLAPPED if title == "4_overlapped" else (BYTES,)
        ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "rung.py", title, *sizes)
        assert ran.code == 0, ran.err
        found = {one["fault"]: one for one in ran.document["advice"]}
        assert (rule.fault in found) == fires, ran.document["advice"]
        if fires:
            one = found[rule.fault]
            assert rule.threshold <= one["weight"] <= 1
            assert one["text"].startswith(rule.fault.replace("_", " "))
            assert one["text"][:40] in " ".join(ran.err.split())


def spans(*rows: tuple[int, int]) -> np.ndarray:
    return np.array(rows, np.int64).reshape(-1, 2) * 1000


def activity(into: LinkCopies, out_of: LinkCopies, work: np.ndarray, busy_us: float) -> ProgramActivity:
    link = machine("h200").host_link
    assert link is not None
    return ProgramActivity(link, into, out_of, work, {"scale": 80.0, "sum": 20.0}, busy_us)


def test_what_could_be_hidden_is_what_the_longest_part_leaves() -> None:
    """1 ms in, 1 ms of work, nothing out: in 16 chunks that is 1.0625 ms of 2."""
    into = LinkCopies(0, 0, 0.0, spans((0, 1000)), np.array([55 << 20]))
    (found,) = program_findings(activity(into, NOTHING, spans((1000, 2000)), 2000.0))
    assert found.weight == pytest.approx((2000 - 1062.5) / 2000)
    assert found.evidence == SerialEvidence(1000.0, 1000.0, 0.0, 1062.5, 2000.0, ("scale", "sum"))
    assert "beside scale, sum, all could take 1.06 ms; at most 47 % less time on the GPU and the link" in (
        format_program_finding(found)
    )


def test_small_copies_and_those_that_overlap_are_no_fault() -> None:
    small = LinkCopies(0, 0, 0.0, spans((0, 20)), np.array([1 << 20]))
    beside = LinkCopies(0, 0, 0.0, spans((0, 1000)), np.array([55 << 20]))
    assert program_findings(activity(small, NOTHING, spans((20, 40)), 40.0)) == []
    assert program_findings(activity(beside, NOTHING, spans((0, 1000)), 1000.0)) == []
    assert program_findings(activity(NOTHING, NOTHING, spans((0, 1000)), 1000.0)) == []


def test_unknown_evidence_is_refused() -> None:
    class Evidence(NamedTuple):
        number: int

    with pytest.raises(TypeError, match="no text for the evidence"):
        format_program_evidence(Evidence(1))
