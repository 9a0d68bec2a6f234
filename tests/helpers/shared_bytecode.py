"""Shared bytecode: of two workers one imports the test files from the last on, so that each compiles a half of them.

All files take 13 s of processor to compile, with their assertions rewritten; after the first run they are on disk.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import cache_from_source
from pathlib import Path

import pytest


def import_from_the_last(folders: list[str]) -> None:
    """In the second worker of xdist, until it meets what the others have compiled, for what is collected whole."""
    if sys.dont_write_bytecode or os.environ.get("PYTEST_XDIST_WORKER") != "gw1":
        return
    for path in sorted((path for folder in folders for path in Path(folder).rglob("test_*.py")), reverse=True):
        if any(Path(cache_from_source(str(path))).parent.glob(f"{path.stem}.*-pytest-*.pyc")):
            return
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        try:
            import_module(path.stem)
        except (Exception, pytest.skip.Exception):  # the collection imports it again, and tells why
            continue
