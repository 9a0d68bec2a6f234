"""Reading Nsight Compute's table, and what can be wrong with it.  A shell script plays ncu."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_launch_job import job

from warplens.core.metric import Metric
from warplens.errors import HardwareError, KernelFault
from warplens.hardware.ncu import measure, read_csv

TABLE = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","smsp__inst_executed.sum","memory_l1_wavefronts_shared","smsp__sass_a.pct"
"","","","inst","","%"
"0","7","k","1,234","56","n/a"
"1","7","k","8","0","99.50"
"""


def test_a_row_a_launch() -> None:
    first, second = read_csv(TABLE)
    assert first == {
        "smsp__inst_executed.sum": Metric(1234, "inst", "measured"),
        "memory_l1_wavefronts_shared": Metric(56, "", "measured"),
    }
    assert second["smsp__sass_a.pct"] == Metric(99.5, "%", "measured")


def test_no_ncu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HardwareError, match="ncu is not on the PATH"):
        measure([job()])


def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    ncu = tmp_path / "ncu"
    ncu.write_text(f"#!/bin/sh\n{script}\n")
    ncu.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_a_table_is_found_in_the_log(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "table").write_text(TABLE)
    fake(monkeypatch, tmp_path, f'while [ "$1" != --log-file ]; do shift; done; cp {tmp_path}/table "$2"')
    assert [len(row) for row in measure([job(), job()])] == [2, 3]
    with pytest.raises(HardwareError, match="2 of 1 launches"):
        measure([job()])


def test_it_may_take_too_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake(monkeypatch, tmp_path, "sleep 60")
    with pytest.raises(HardwareError, match="took longer than"):
        measure([job()], seconds=0.2)


@pytest.mark.parametrize(
    ("script", "kind", "said"),
    [
        ("echo ==ERROR== ERR_NVGPUCTRPERM; exit 1", HardwareError, "NVreg_RestrictProfilingToAdminUsers=0"),
        ("echo error: k failed on the GPU >&2; exit 3", KernelFault, "^k failed on the GPU$"),
        ("echo error: no NVIDIA driver >&2; exit 2", HardwareError, "^no NVIDIA driver$"),
        ("exit 9", HardwareError, "ncu ended with 9"),
    ],
)
def test_what_goes_wrong_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, kind: type[Exception], said: str
) -> None:
    fake(monkeypatch, tmp_path, script)
    with pytest.raises(kind, match=said):
        measure([job()])


def test_what_ncu_says_last_is_told_wherever_it_says_it(tmp_path, monkeypatch):
    """As another user than the one whose lock stands in /tmp, it writes no log."""
    program = tmp_path / "ncu"
    program.write_text("#!/bin/sh\necho '==ERROR== Failed to open the lock file'\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(HardwareError, match="ncu ended with 1: ==ERROR== Failed to open the lock file"):
        measure([], ["smsp__inst_executed.sum"])
