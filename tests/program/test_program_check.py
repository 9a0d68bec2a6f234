"""`warplens run --check`: mistakes of a program, each alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from helpers.whole_program import Ran, run
from warplens.cli.main import main
from warplens.errors import UsageError
from warplens.program.program_check import ALL, program_checks_of
from warplens.report.json.program_document import schema

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


def checked(
    capfd: pytest.CaptureFixture[str], folder: Path, program: Path, mistake: str, checks: str = "all"
) -> tuple[Ran, list[dict[str, Any]]]:  # fmt: skip
    ran = run(capfd, folder, program, "mistake", mistake, options=("--check", checks))
    jsonschema.validate(ran.document, schema())
    return ran, ran.document["check"]["findings"]


@pytest.mark.every(5)
@pytest.mark.parametrize(
    ("mistake", "check", "severity", "says"),
    [
        ("unwritten", "init", "error", "uninitialized global read: nothing has been written to allocation 1 at 0x"),
        ("misdirected", "api", "error", "is said to be host to device, and its pointers are device to device"),
        ("refused", "api", "warning", "cudaMemcpy answered with cudaErrorInvalidValue"),
        ("unasked", "api", "error", "nobody asked for the error of a launch, cudaErrorInvalidConfiguration"),
        ("unsynchronized", "api", "error", "ended before a call answered with cudaErrorIllegalAddress"),
        ("freed", "memory", "error", "use after free: in allocation 1 at 0x200000000000 (4,000 bytes)"),
        ("host", "memory", "error", "a host pointer that was given to the kernel?"),
        ("beyond", "memory", "error", "0 bytes past the end of allocation 1 at 0x200000000000 (4,000 bytes)"),
        ("racy", "races", "error", "of shared memory by two threads"),
        ("leak", "leaks", "warning", "2 allocations of 8,000 bytes were not freed: allocation 1 at 0x"),
    ],
)
def test_a_mistake_is_found(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, mistake: str, check: str, severity: str,
    says: str,
) -> None:  # fmt: skip
    ran, findings = checked(capfd, tmp_path, registered, mistake)
    assert ran.code == 1
    assert ran.document["exit_code"] == 0, ran.err
    found = [(one["check"], one["severity"]) for one in findings if says in one["message"]]
    assert found == [(check, severity)], findings
    assert says[:30] in ran.err
    others = {(one["check"], one["severity"]) for one in findings} - {(check, severity)}
    allowed = {("api", "warning"), ("memory", "error")}  # the fault, and the calls that answered with it
    also = {"refused": {("api", "error")}, "racy": {("init", "warning")}}  # what such a mistake brings with it
    assert others <= allowed | also.get(mistake, set()), findings


def test_a_host_that_does_not_wait_is_found(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    """Managed memory that a kernel writes, and page-locked memory that a copy writes."""
    ran, findings = checked(capfd, tmp_path, registered, "early")
    messages = sorted(one["message"] for one in findings)
    assert len(messages) == 2, ran.err
    for number, message in zip((3, 4), messages, strict=True):
        assert message.startswith(f"the host accesses allocation {number} at 0x"), messages
    assert ran.document["exit_code"] == 0


@pytest.mark.parametrize("right", ["none", "waited"])
def test_a_program_without_mistakes_passes(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, right: str
) -> None:
    ran, findings = checked(capfd, tmp_path, registered, right)
    assert (ran.code, findings) == (0, [])
    assert "--check memory,races,init,barriers,leaks,api: nothing found" in " ".join(ran.err.split())
    assert run(capfd, tmp_path, registered, "mistake", "leak").document["check"] is None


def test_without_the_check_a_gpu_would_not_notice_either(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    """An access within the 512 bytes of an allocation, and one to memory that is another allocation by now."""
    for mistake in ("beyond", "freed"):
        ran = run(capfd, tmp_path, registered, "mistake", mistake)
        assert (ran.code, ran.document["faults"]) == (0, [])


def test_only_what_is_asked_for_is_reported(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    assert checked(capfd, tmp_path, registered, "leak", "races,init")[1] == []
    assert [one["check"] for one in checked(capfd, tmp_path, registered, "racy", "races")[1]] == ["races"]


def test_counts_are_those_without_checks(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    ran, _ = checked(capfd, tmp_path, registered, "none")
    plain = run(capfd, tmp_path, registered, "mistake", "none")
    exact, others = (
        {name: metric for name, metric in one.kernel("scale")["metrics"].items() if metric["provenance"] == "exact"}
        for one in (ran, plain)
    )
    assert len(exact) > 100
    assert exact == others


def test_names_of_checks(capfd: pytest.CaptureFixture[str]) -> None:
    assert program_checks_of(()) is None
    assert program_checks_of(("leaks,races",)) == ("memory", "races", "leaks")
    assert program_checks_of(("all",)) == ("memory", *ALL)
    assert program_checks_of(("memory",)) == ("memory",)
    with pytest.raises(UsageError, match="no check 'leak'; there are memory, races"):
        program_checks_of(("leak",))
    assert main(["run", "--check", "leak", "--", "true"]) == 2
    assert "no check 'leak'" in capfd.readouterr().err
