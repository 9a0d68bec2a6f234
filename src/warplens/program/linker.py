"""Linker: pieces of code that a program links at run time (cuLink*), assembled and linked with NVIDIA's nvlink."""

from __future__ import annotations

import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path

from warplens.compiler import assemble
from warplens.compiler.fatbin import fitting_entry, is_fatbin
from warplens.errors import CompileError
from warplens.machine import Machine
from warplens.program.loaded_module import ImageError, machine_code
from warplens.program.protocol import Status
from warplens.system.nvidia_wheels import program_of

PIECE = struct.Struct("<II")  # kind, bytes
LONGEST_SECONDS = 120
NO_NVLINK = 'several pieces of code are linked by nvlink, which is missing: pip install "warplens[build]"'


class PieceKind(IntEnum):
    """Piece kind: numbers of CUjitInputType."""

    CUBIN = 0
    PTX = 1
    FATBINARY = 2
    OBJECT = 3
    LIBRARY = 4


SUFFIXES = {PieceKind.OBJECT: "o", PieceKind.LIBRARY: "a"}


def link(payload: bytes, gpu: Machine) -> bytes:
    """The cubin made of these pieces.  ImageError, with nvlink's output; CubinError for a damaged piece."""
    pieces = list(_pieces(payload))
    if len(pieces) == 1 and pieces[0][0] not in SUFFIXES:
        return machine_code(pieces[0][1], gpu)
    nvlink = _nvlink()
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        files = []
        for number, (kind, data) in enumerate(pieces):
            file = Path(folder) / f"piece{number}.{SUFFIXES.get(kind, 'cubin')}"
            file.write_bytes(data if kind in SUFFIXES else _relocatable(data, gpu))
            files.append(str(file))
        made = Path(folder) / "linked.cubin"
        _run([nvlink, f"-arch={gpu.arch}", "-o", str(made), *files])
        return made.read_bytes()


def _pieces(payload: bytes) -> Iterator[tuple[PieceKind, bytes]]:
    place = 0
    while place < len(payload):
        kind, size = PIECE.unpack_from(payload, place)
        place += PIECE.size
        yield PieceKind(kind), payload[place : place + size]
        place += size


def _relocatable(image: bytes, gpu: Machine) -> bytes:
    """A cubin that nvlink takes: PTX is assembled without its calls being resolved."""
    if is_fatbin(image):
        entry = fitting_entry(image, gpu.arch)
        if entry is None:
            raise ImageError(f"it has no code that {gpu.title} ({gpu.arch}) can run", Status.NO_BINARY)
        image = entry.code
    if image.startswith(b"\x7fELF"):
        return image
    try:
        return assemble(image.rstrip(b"\0").decode("latin-1"), "the program's PTX", gpu.arch, ["-c"])
    except CompileError as error:
        raise ImageError(str(error), Status.INVALID_PTX) from None


def _nvlink() -> str:
    if found := shutil.which("nvlink"):
        return found
    wheel = program_of("nvidia-cuda-nvcc", "nvlink")
    if wheel is None:
        raise ImageError(NO_NVLINK, Status.NOT_SUPPORTED)
    return str(wheel[0])


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ImageError(f"nvlink did not end: {error}", Status.INVALID_IMAGE) from None
    if done.returncode:
        output = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise ImageError(f"nvlink refused the program's code:\n{output}", Status.INVALID_IMAGE)
