"""What the compiler of machine code takes of memory once a kernel has been translated."""

from __future__ import annotations

import mmap
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.system import memory_advice

RELEASE = memory_advice.release  # the tests' own fixture leaves it out
SMAPS = Path("/proc/self/smaps")
NUMBERS = (7, 8, 9)
SOURCE = "\n".join(f'extern "C" __global__ void k{n}(int *p) {{ p[threadIdx.x] += {n}; }}' for n in NUMBERS)


def code_of_llvm() -> int:
    """Bytes of its code that are in memory."""
    total = 0
    for part in re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", SMAPS.read_text()):
        if "libllvmlite" in part and " r-xp " in part:
            total += int(re.findall(r"^Rss:\s+(\d+) kB", part, re.MULTILINE)[0]) << 10
    return total


def launched(number: int) -> int:
    array = np.zeros(32, np.int32)
    wl.compile(source=SOURCE)[f"k{number}"].launch(1, 32, array)
    return int(array[0])


@pytest.mark.skipif(not SMAPS.exists(), reason="the system does not tell what of a library is in memory")
def test_it_leaves_when_it_has_done_its_work_and_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each launch has to be translated: no pieces or kernels that are known already.
    monkeypatch.setenv("WARPLENS_TIER", "whole")
    monkeypatch.setenv("WARPLENS_CACHE", "off")
    assert launched(7) == 7
    assert code_of_llvm() > 10 << 20
    monkeypatch.setattr(memory_advice, "release", RELEASE)
    assert launched(8) == 8
    assert code_of_llvm() < 1 << 20
    assert launched(9) == 9


@pytest.mark.skipif(sys.platform != "linux", reason="advice is given on Linux alone")
def test_small_pages_are_asked_for_whole_pages_within_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []
    monkeypatch.setattr(memory_advice, "_madvise", lambda: lambda *words: asked.append(words))
    page = mmap.PAGESIZE
    memory_advice.in_small_pages(10 * page + 1, 3 * page)
    memory_advice.in_small_pages(10 * page + 1, page)  # no page lies in it completely
    assert asked == [(11 * page, 2 * page, mmap.MADV_NOHUGEPAGE)]
