"""Reports of a run: one file a format.

`warplens.report` is this package once anything in it has been imported, and the function that writes a run to a
file (`wl.report(run, "page.html")`): so the package can be called.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Protocol


class Reportable(Protocol):
    """A run of warplens.api."""

    def report(self, path: str | Path) -> None: ...


class _Callable(ModuleType):
    def __call__(self, run: Reportable, path: str | Path) -> None:
        """Writes a run to `path`: a page for .html, the document for .json."""
        run.report(path)


sys.modules[__name__].__class__ = _Callable
