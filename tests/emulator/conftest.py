"""A test that takes `arch` runs on every architecture: sm_90 always, the others as long tests.

Each test runs twice, with steps and with a whole translation (tiers.py), unless its file says otherwise in `TIERS`; of
long tests only a part runs, so theirs is chosen by name.
"""

from __future__ import annotations

from zlib import crc32

import pytest
from launches import ARCHITECTURES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "arch" in metafunc.fixturenames:
        others = (pytest.param(a, marks=pytest.mark.long) for a in ARCHITECTURES if a != "sm_90")
        metafunc.parametrize("arch", ["sm_90", *others])
    metafunc.parametrize("tier", getattr(metafunc.module, "TIERS", ("steps", "whole")), indirect=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    left_out = {item for item in items if item.get_closest_marker("long") and not _in_its_tier(item)}
    items[:] = [item for item in items if item not in left_out]


def _in_its_tier(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    tier = callspec.params.get("tier") if callspec else None
    if tier is None:
        return True
    return (crc32(item.nodeid.replace(tier, "").encode()) % 32 < 16) == (tier == "steps")


@pytest.fixture(autouse=True)
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLENS_TIER", request.param)
