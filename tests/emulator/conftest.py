"""A test that takes `arch` runs on every architecture: sm_90 always, the others as long tests."""

from __future__ import annotations

import pytest
from launches import ARCHITECTURES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "arch" in metafunc.fixturenames:
        others = (pytest.param(a, marks=pytest.mark.long) for a in ARCHITECTURES if a != "sm_90")
        metafunc.parametrize("arch", ["sm_90", *others])
