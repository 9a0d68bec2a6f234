"""Python file: loads Python from a lab's folder (truth.py, rungs without kernels) by path."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from warplens.errors import UsageError
from warplens.launchspec.expression import Names


def load(path: Path) -> ModuleType:
    """Loads the module.  UsageError if there is no such file or it fails."""
    spec = importlib.util.spec_from_file_location(f"warplens_lab_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"the lab has no {path}")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the file may raise anything
        raise UsageError(f"{path} does not run: {type(error).__name__}: {error}") from None
    return module


def function(module: ModuleType, name: str) -> Callable[..., Any] | None:
    found = getattr(module, name, None)
    return found if callable(found) else None


def keywords(called: Callable[..., Any], names: Names) -> Mapping[str, Any]:
    """The lab's names that a function takes as keyword-only parameters."""
    wanted = [p.name for p in inspect.signature(called).parameters.values() if p.kind is p.KEYWORD_ONLY]
    missing = [name for name in wanted if name not in names]
    if missing:
        raise UsageError(f"{called.__name__}() asks for {missing[0]}; the lab's names are {', '.join(names)}")
    return {name: names[name] for name in wanted}


def positional(called: Callable[..., Any]) -> Sequence[str]:
    """The names of a function's positional parameters, in order."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in inspect.signature(called).parameters.values() if p.kind in kinds]
