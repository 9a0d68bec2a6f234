"""Prepared process: it reads what its file holds when it is asked, not when it was started."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from warplens.sass.prepared_process import PreparedProcess, processor_seconds

PROGRAM = "import sys, time\nwhile time.process_time() < {}: pass\nsys.stdout.write(open(sys.argv[1]).read())"


def prepared(file: Path, works: float, seconds: float) -> PreparedProcess:
    file.write_text("before")
    return PreparedProcess([sys.executable, "-I", "-S", "-c", PROGRAM.format(works)], file, seconds)


def test_asked_after_it_was_stopped(tmp_path: Path) -> None:
    process = prepared(tmp_path / "file", 0.2, 0.2)
    while processor_seconds(process.process.pid) < 0.15:
        time.sleep(0.01)
    time.sleep(0.05)
    used = processor_seconds(process.process.pid)
    time.sleep(0.05)
    assert processor_seconds(process.process.pid) == used
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
