"""Whole programs: compiled with the C compiler that `warplens run` itself uses, and run by it."""

from __future__ import annotations

import json
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import warplens as wl
from warplens.cli.main import main
from warplens.program.shim_library import compiler, library

CUBIN = 2  # kind of an entry of a fatbin
PROGRAMS = Path(__file__).parent.parent / "program" / "programs"


@dataclass(frozen=True)
class Ran:
    """Ran: exit code, output of the program, messages and report on stderr, the JSON document."""

    code: int
    out: str
    err: str
    document: dict[str, Any]

    def kernel(self, name: str) -> dict[str, Any]:
        (found,) = (kernel for kernel in self.document["kernels"] if kernel["kernel"] == name)
        return found


def run(capfd: pytest.CaptureFixture[str], folder: Path, *command: object, options: tuple[str, ...] = ()) -> Ran:
    place = folder / "run.json"
    capfd.readouterr()
    code = main(["run", "--gpu", "h200", "--json", str(place), *options, "--", *map(str, command)])
    out, err = capfd.readouterr()
    return Ran(code, out, err, json.loads(place.read_text()))


def write_kernels(folder: Path, source: str) -> None:
    """kernels.fatbin, which the C programs include: machine code for the H200, as nvcc packs it."""
    code = wl.compile(source=source, arch="sm_90", options=["-lineinfo"]).cubin.data
    entry = struct.pack("<HHIQIIIIQQQQ", CUBIN, 0x101, 64, len(code), 0, 0, 0, 90, 0, 0, 0, 0) + code
    (folder / "kernels.fatbin").write_bytes(struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(entry)) + entry)


def built(name: str, folder: Path, *more: str) -> Path:
    """A C program of tests/program/programs."""
    made = folder / Path(name).stem
    with library() as shim:
        command = [*compiler(), "-O1", "-o", str(made), str(PROGRAMS / name), f"-L{shim}", *more]
        subprocess.run(command, check=True, cwd=folder)
    return made
