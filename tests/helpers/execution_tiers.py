"""A test that takes `arch` runs on every architecture: sm_90 always, the others as long tests; with
`@pytest.mark.since("sm_80")` on those from sm_80 on, where what it tests begins.

With --long each test runs twice, with steps and with a whole translation (tiers.py), unless its file says otherwise in
`TIERS`; without, in one of the two, chosen by its name: all in both take ten minutes of two cores.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from helpers.kernel_launches import ARCHITECTURES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    tiers = getattr(metafunc.module, "TIERS", ("steps", "whole"))
    if not tiers:
        return
    if "arch" in metafunc.fixturenames:
        since = metafunc.definition.get_closest_marker("since")
        existing = ARCHITECTURES[ARCHITECTURES.index(since.args[0]) if since else 0 :]
        marks = {arch: [pytest.mark.long] * (arch != "sm_90") for arch in existing}
        metafunc.parametrize("arch", [pytest.param(arch, marks=mark) for arch, mark in marks.items()])
    metafunc.parametrize("tier", tiers, indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    all_of_them = config.getoption("--long")
    items[:] = [item for item in items if _in_its_tier(item, all_of_them)]


def _in_its_tier(item: pytest.Item, all_of_them: bool) -> bool:
    callspec = getattr(item, "callspec", None)
    tier = callspec.params.get("tier") if callspec else None
    if tier is None or len(getattr(item.module, "TIERS", ("steps", "whole"))) < 2:  # type: ignore[attr-defined]
        return True
    if all_of_them and not item.get_closest_marker("long"):
        return True
    return (crc32(item.nodeid.replace(tier, "").encode()) % 32 < 16) == (tier == "steps")


@pytest.fixture(autouse=True)
def tier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if hasattr(request, "param"):
        monkeypatch.setenv("WARPLENS_TIER", request.param)
