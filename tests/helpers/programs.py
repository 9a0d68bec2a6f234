"""Modules of benchmarks/ and docs/ for tests: no package has them, and their names may stand elsewhere too."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def module_of(path: str, name: str) -> ModuleType:
    """The Python file at `path` under the repository, as module `name`."""
    file = ROOT / path
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
