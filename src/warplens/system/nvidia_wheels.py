"""NVIDIA wheels: locates the programs and headers that wheels install next to the Python packages."""

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


def library_of(name: str) -> Path | None:
    """Path of a shared library of the wheels; None if it is missing."""
    wheels = find_spec("nvidia")
    places = [Path(root) / "cu13" / "lib" / name for root in wheels.submodule_search_locations or []] if wheels else []
    return next(filter(Path.is_file, places), None)


CUTLASS = "nvidia-cutlass"


def cutlass_headers() -> tuple[list[Path], str]:
    """Folders of the headers of CUTLASS and CuTe, and the version of their wheel; ([], "") without it."""
    found = find_spec("cutlass_library")
    for root in found.submodule_search_locations or [] if found else []:
        source = Path(root) / "source"
        if (source / "include" / "cute").is_dir():
            try:
                return [source / "include", source / "tools" / "util" / "include"], version(CUTLASS)
            except PackageNotFoundError:
                break
    return [], ""
