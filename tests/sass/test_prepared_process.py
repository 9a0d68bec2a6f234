"""Prepared process: it reads what its file holds when it is asked, not when it was started."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from warplens.sass import nvdisasm
from warplens.sass.prepared_process import PreparedProcess, processor_seconds

PROGRAM = "import sys, time\nwhile time.process_time() < {}: pass\nsys.stdout.write(open(sys.argv[1]).read())"


def prepared(file: Path, works: float, seconds: float) -> PreparedProcess:
    file.write_text("before")
    return PreparedProcess([sys.executable, "-I", "-S", "-c", PROGRAM.format(works)], file, seconds)


def test_asked_after_it_was_stopped(tmp_path: Path) -> None:
    process = prepared(tmp_path / "file", 0.2, 0.2)
    state = Path(f"/proc/{process.process.pid}/stat")
    while state.read_text().rpartition(")")[2].split()[0] != "T":  # stopped
        time.sleep(0.01)
    ended = process.answer(b"after", 10)
    assert ended is not None
    assert ended.stdout == b"after"


def test_asked_at_once(tmp_path: Path) -> None:
    ended = prepared(tmp_path / "file", 0.2, 0.2).answer(b"after", 10)
    assert ended is not None
    assert ended.stdout == b"after"


def test_one_that_has_read_its_file_already_has_no_answer(tmp_path: Path) -> None:
    process = prepared(tmp_path / "file", 0.0, 60)
    process.process.wait()
    assert process.answer(b"after", 10) is None
    assert processor_seconds(process.process.pid) == -1


def test_questions_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those with the options of the one before are answered by the process that was prepared."""
    program, alone = [sys.executable, "-I", "-S", "-c", PROGRAM.format(0.2)], []

    def answer(data: bytes, options: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        alone.append(data)
        (tmp_path / "alone").write_bytes(data)
        return subprocess.run([*program, str(tmp_path / "alone")], capture_output=True)

    monkeypatch.setattr(nvdisasm, "command", lambda options: program)
    monkeypatch.setattr(nvdisasm, "answer", answer)
    ahead = nvdisasm.AheadOfTime(tmp_path)
    for data, option in ((b"1", "x"), (b"2", "x"), (b"3", "x"), (b"4", "y")):
        assert ahead.answer(data, [option]).stdout == data
        ahead.prepare()
    ahead.end()
    assert alone == [b"1", b"4"]
