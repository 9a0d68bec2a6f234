"""NVIDIA wheels: locates the programs and headers that wheels install next to the Python packages."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path


def program_of(package: str, name: str) -> tuple[Path, str] | None:
    """Path of the program and the package's version from the wheel's metadata; None if it is missing."""
    for folder in _folders("bin"):
        found = folder / name
        if found.is_file():
            try:
                return found, version(package)
            except PackageNotFoundError:
                return None
    return None


def library_of(name: str) -> Path | None:
    """Path of a shared library of the wheels; None if it is missing."""
    return next(filter(Path.is_file, (folder / name for folder in _folders("lib"))), None)


def header_folders() -> list[Path]:
    """Folders with the headers of the wheels."""
    return list(filter(Path.is_dir, _folders("include")))


def _folders(name: str) -> list[Path]:
    wheels = find_spec("nvidia")
    return [Path(root) / "cu13" / name for root in wheels.submodule_search_locations or []] if wheels else []


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
