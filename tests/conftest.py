"""What holds for all tests.

Long tests: `make test` runs a fixed sample of them (helpers/selection.py), `make test-long` (`--long`) all.
Snapshots of the model (helpers/snapshots.py): `--update-snapshots` writes those of the tests that run.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from helpers import shared_bytecode
from helpers.chromium import browser
from helpers.nvdisasm_server import served
from helpers.selection import selected
from helpers.snapshots import SNAPSHOTS, Snapshots, snapshot
from warplens.cli.main import COLLECTION_THRESHOLDS
from warplens.emulator.execute import grid
from warplens.system import memory_advice

__all__ = ["browser", "snapshot"]

# Of glibc's malloc: what is kept (M_TRIM_THRESHOLD, M_TOP_PAD), and from what size on pages come from the system.
ALLOCATOR = {-1: 1 << 30, -2: 1 << 24, -3: 1 << 25}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run all long tests, not a fixed sample of them")
    parser.addoption("--update-snapshots", action="store_true", help="write the model's snapshots anew")


def pytest_configure(config: pytest.Config) -> None:
    """A cache of their own: nothing that an earlier version left is taken for an answer.  Workers of xdist share it."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="warplens-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ["WARPLENS_CACHE"] = f"{folder.name}/cache"
        os.environ["WARPLENS_TEST_SOURCES"] = f"{folder.name}/sources"
        if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # else each command would compile all sources: 1 s
            os.environ["PYTHONPYCACHEPREFIX"] = f"{folder.name}/bytecode"
    update = config.getoption("--update-snapshots")
    if update and (hasattr(config, "workerinput") or getattr(config.option, "numprocesses", None)):
        raise pytest.UsageError("--update-snapshots writes one file: leave out --numprocesses, or give -n0")
    config.stash[SNAPSHOTS] = Snapshots(update)


def pytest_sessionfinish(session: pytest.Session) -> None:
    snapshots = session.config.stash[SNAPSHOTS]
    if snapshots.update:
        snapshots.write()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """No garbage collection while 20,000 cases are made, and no later one visits them: a tenth of a worker's time.

    The 74 folders of test files leave the path: each search for a module or a wheel would pass through them.
    """
    gc.disable()
    shared_bytecode.import_from_the_last(session.config.args)
    collected = yield
    folders = f"{Path(__file__).parent}{os.sep}"
    sys.path[:] = [folder for folder in sys.path if not folder.startswith(folders)]
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    return collected


@pytest.hookimpl(tryfirst=True)  # while they stand in the order of their files
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any("::" in argument for argument in config.args):
        return
    kept = selected(items, config.getoption("--long"))
    left_out = set(items).difference(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = kept


@pytest.fixture
def every_thread_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Host threads share a launch also where it has too little to do for two: for tests of threads."""
    monkeypatch.setattr(grid, "MIN_PARALLEL_SECONDS", 0.0)


@pytest.fixture(autouse=True, scope="session")
def _nvdisasm_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with served(tmp_path_factory.mktemp("nvdisasm")):
        yield


@pytest.fixture(autouse=True, scope="session")
def _compilers_stay_in_memory() -> Iterator[None]:
    """Their code, and what they free: for a small kernel NVRTC takes 37 ms of processor instead of 52."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        for parameter, value in ALLOCATOR.items():
            libc.mallopt(parameter, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_advice, "release", lambda library: None)
        yield


@pytest.fixture(autouse=True, scope="session")
def _ctrl_c_interrupts() -> Iterator[None]:
    """A shell starts background jobs with SIGINT ignored, and Python then installs no handler of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
