"""A test that takes `arch` runs on every architecture: sm_90 and one more always, the others where `long` is."""

from __future__ import annotations

import zlib

import pytest
from launches import ARCHITECTURES

OTHERS = tuple(a for a in ARCHITECTURES if a != "sm_90")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "arch" not in metafunc.fixturenames:
        return
    also = OTHERS[zlib.crc32(metafunc.function.__name__.encode()) % len(OTHERS)]  # the same one every time
    metafunc.parametrize(
        "arch",
        [a if a in ("sm_90", also) else pytest.param(a, marks=pytest.mark.long) for a in ARCHITECTURES],
    )
