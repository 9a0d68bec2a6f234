"""NVIDIA wheels: locates the programs that wheels install next to the Python packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path


def program_of(package: str, name: str) -> tuple[Path, str] | None:
    """Path of the program and the package's version from the wheel's metadata; None if it is missing."""
    wheels = find_spec("nvidia")
    for root in wheels.submodule_search_locations or [] if wheels else []:
        found = Path(root) / "cu13" / "bin" / name
        if found.is_file():
            try:
                return found, version(package)
            except PackageNotFoundError:
                return None
    return None
