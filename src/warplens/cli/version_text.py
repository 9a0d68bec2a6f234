"""Versions: of warplens, and of every tool that has a part in its numbers, for `warplens --version`."""

from __future__ import annotations

import sys

import click

from warplens import __version__

PACKAGES = {
    "numpy": "numpy",
    "llvmlite": "llvmlite",
    "NVRTC": "nvidia-cuda-nvrtc",
    "nvdisasm": "nvidia-cuda-nvdisasm",
    "ptxas": "nvidia-cuda-nvcc",
}
MISSING = "not installed"


def show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    """Of the option --version: prints the versions, and ends."""
    if asked and not context.resilient_parsing:
        click.echo("\n".join(f"{name} {number}" for name, number in versions().items()))
        context.exit()


def versions() -> dict[str, str]:
    """warplens first, on a line of its own for programs that read it."""
    found = {"warplens": __version__, "Python": sys.version.split()[0]}
    found |= {name: _installed(package) for name, package in PACKAGES.items()}
    found["LLVM"] = _llvm()
    return found


def _installed(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # a third of the time of `warplens --help`

    try:
        return version(package)
    except PackageNotFoundError:
        return MISSING


def _llvm() -> str:
    """Of the LLVM that llvmlite has in it."""
    try:
        from llvmlite.binding import llvm_version_info
    except ImportError:
        return MISSING
    return ".".join(map(str, llvm_version_info))
