"""A plug-in of pytest: writes down which test begins when, and ends the run of a file that takes long.

`MUTATION_LOG` names the file written, one line a test; `MUTATION_SECONDS` the time after which no further test begins,
`MUTATION_FILE_SECONDS` that after which the other tests of a file are skipped.
Times are those that the process and its children had of a processor: other users of the machine change them less.
"""

from __future__ import annotations

import os

import pytest

BEGUN: dict[str, float] = {}  # of each file


def used() -> float:
    return sum(os.times()[:4])


def note(what: str, nodeid: str) -> None:
    with open(os.environ["MUTATION_LOG"], "a", encoding="utf-8") as log:
        log.write(f"{used():.2f}\t{what}\t{nodeid}\n")


@pytest.hookimpl
def pytest_runtest_logstart(nodeid: str, location: tuple[str, int | None, str]) -> None:
    note("begin", nodeid)


@pytest.hookimpl
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        note("failed", report.nodeid)


@pytest.hookimpl
def pytest_runtest_logfinish(nodeid: str, location: tuple[str, int | None, str]) -> None:
    note("end", nodeid)


@pytest.hookimpl
def pytest_runtest_setup(item: pytest.Item) -> None:
    begun = BEGUN.setdefault(str(item.path), used())
    if used() - begun > float(os.environ.get("MUTATION_FILE_SECONDS", "inf")):
        pytest.skip("its file took its time")


@pytest.hookimpl
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if used() > float(os.environ.get("MUTATION_SECONDS", "inf")):
        item.session.shouldstop = "took its time"
