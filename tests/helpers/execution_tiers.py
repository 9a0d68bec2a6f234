"""Execution tiers: a test that takes `arch` runs on every architecture: sm_90 always, the others as long tests; with
`@pytest.mark.since("sm_80")` on those from sm_80 on, where what it tests begins.

Each test has two tiers, threaded code ("steps") and compiled code ("whole"; emulator/execute/tiering.py), unless its
file says otherwise in `TIERS`: ("whole",), or () for the tiers of production.  Which of the two run: selection.py.
"""

from __future__ import annotations

import pytest

from helpers import selection
from helpers.kernel_launches import ARCHITECTURES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    tiers = getattr(metafunc.module, "TIERS", selection.TIERS)
    if not tiers:
        return
    if "arch" in metafunc.fixturenames:
        since = metafunc.definition.get_closest_marker("since")
        existing = ARCHITECTURES[ARCHITECTURES.index(since.args[0]) if since else 0 :]
        marks = {arch: [pytest.mark.long] * (arch != "sm_90") for arch in existing}
        metafunc.parametrize("arch", [pytest.param(arch, marks=mark) for arch, mark in marks.items()])
    metafunc.parametrize("tier", tiers, indirect=True)


@pytest.fixture(autouse=True)
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(request, "param"):
        monkeypatch.setenv("WARPLENS_TIER", request.param)
