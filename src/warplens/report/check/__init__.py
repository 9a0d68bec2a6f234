"""Reports of `warplens check`: one module a format, with its NAME and `text(view)`; the folder is the list."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from warplens.report.regression_views.check_view import CheckView

Format = Callable[[CheckView], str]


@cache
def formats() -> dict[str, Format]:
    """The formats by name."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {module.NAME: module.text for module in sorted(modules, key=lambda module: str(module.NAME))}
