"""Python kernels: loads a kernel that was written in Python, with its source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warplens.api import Module
from warplens.core.cubin import Cubin
from warplens.kernel import LaunchableKernel


def load_kernel(cubin: Cubin, name: str, file: str, made_by: tuple[str, str]) -> LaunchableKernel:
    """The kernel of a cubin, with the Python that its line table names; `file` has the kernel.

    made_by   name and version of the compiler
    """
    return Module(replace(cubin, sources=_python(cubin, Path(file)), made_by=made_by), {})[name]


def _python(cubin: Cubin, file: Path) -> dict[str, str]:
    """Text of each source.  Triton's cache knows code by its text: it may have been compiled at another place."""
    named = sorted({line.file for kernel in cubin.kernels.values() for line in kernel.lines if line})
    paths = {name: file if Path(name).name == file.name else Path(name) for name in named if name.endswith(".py")}
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()}


def short_path(file: str) -> str:
    """A path as a user in this directory would write it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
