"""benchmarks/validation/launches.py for tests: no package has it, and tests/emulator has a module of that name."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FILE = Path(__file__).parents[1] / "benchmarks" / "validation" / "launches.py"


def the_lists() -> ModuleType:
    if str(FILE.parent) not in sys.path:
        sys.path.insert(0, str(FILE.parent))  # it imports the module beside it
    spec = importlib.util.spec_from_file_location("validation_launches", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
