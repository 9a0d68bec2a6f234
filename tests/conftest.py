"""The long tests: `make test` runs one in sixteen, the same each time; `make test-long` (`--long`) runs all."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from zlib import crc32

import pytest

from warplens.emulator.execute import grid

SAMPLE = 16


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run all long tests, not one in sixteen")


def pytest_configure(config: pytest.Config) -> None:
    """A cache of their own: nothing that an earlier version left is taken for an answer.  Workers of xdist share it."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="warplens-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["WARPLENS_CACHE"] = folder.name


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    left_out = [item for item in items if item.get_closest_marker("long") and not sampled(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


def sampled(item: pytest.Item) -> bool:
    """By name, so that a test stays in the sample when others are added."""
    return crc32(item.nodeid.encode()) % SAMPLE == 0


@pytest.fixture(autouse=True)
def _every_thread_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a launch has too little to do for two: what is run here is small."""
    monkeypatch.setattr(grid, "MIN_PARALLEL_SECONDS", 0.0)


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_interrupts() -> Iterator[None]:
    """A shell starts background jobs with SIGINT ignored, and Python then installs no handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
