"""Terminals without Unicode, outputs that cannot be written, sources that are not UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from warplens.api import read_source
from warplens.errors import UsageError

COPY = Path(__file__).parents[2] / "examples" / "copy.cu"
OCCUPANCY = ["occupancy", "--registers", "32", "--block", "256"]


def warplens(*words: str, out: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warplens", *words]
    with open(out or os.devnull, "w") as file:
        where = file if out else subprocess.PIPE
        return subprocess.run(
            command, stdout=where, stderr=subprocess.PIPE, env=os.environ | environment, encoding="latin-1"
        )


@pytest.mark.every(2)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_gets_letters_that_it_has(encoding: str) -> None:
    done = warplens("explain", str(COPY), "--kernel", "ccopy", "--set", "n=1024", "--gpu", "t4,h200",
                    PYTHONIOENCODING=encoding)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert " us" in done.stdout or encoding == "latin-1"
    assert "Interval" in done.stdout
    assert done.stdout.isascii() or encoding == "latin-1"
    assert "?" not in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_the_output_is_one_sentence() -> None:
    done = warplens(*OCCUPANCY, out="/dev/full")
    assert (done.returncode, done.stderr) == (2, "error: the output: No space left on device\n")


def test_sources_in_latin_1_and_with_a_mark_of_their_order_are_read(tmp_path: Path) -> None:
    path = tmp_path / "größe.cu"
    for text in ("\ufeff// größe\r\n".encode(), "// größe\r\n".encode("latin-1")):
        path.write_bytes(text)
        assert read_source(path) == "// größe\n"
    path.write_bytes(b"\x7fELF\0\0")
    with pytest.raises(UsageError, match="as text: it holds bytes of 0"):
        read_source(path)
