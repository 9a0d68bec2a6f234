"""Executable file: what an ELF file says of itself, for the sentences on programs that cannot be run or counted."""

from __future__ import annotations

import mmap
import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from struct import unpack_from

MACHINES = {3: "x86 with 32 bits", 8: "MIPS", 21: "PowerPC", 40: "arm with 32 bits", 62: "x86-64", 183: "arm64"}
MACHINES |= {22: "s390", 243: "RISC-V", 258: "LoongArch"}
X86_64 = 62
INTERPRETER = 3  # PT_INTERP
CODE_SECTION, SYMBOLS, DYNAMIC_TEXTS = ".nv_fatbin", ".symtab", ".dynstr"


@dataclass(frozen=True)
class ExecutableFile:
    """Executable file: an ELF file of 64 bits.

    dynamic       whether it has a loader, which libraries are given to
    sections      names;  shared_runtime: whether it names CUDA's shared runtime among its libraries
    """

    machine: int
    dynamic: bool
    sections: frozenset[str]
    shared_runtime: bool


def read(path: Path) -> ExecutableFile | None:
    """None for what is no ELF file of 64 bits."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parsed(data) if data[:5] == b"\x7fELF\x02" else None
    except (OSError, struct.error, ValueError, IndexError):
        return None


def _parsed(data: mmap.mmap) -> ExecutableFile:
    machine, programs, table = unpack_from("<18xH12xQQ", data)
    size, count, section_size, sections, names = unpack_from("<54xHHHHH", data)
    dynamic = any(unpack_from("<I", data, programs + n * size)[0] == INTERPRETER for n in range(count))
    found: dict[str, bytes] = {}
    if sections:
        heads = [unpack_from("<I20xQQ", data, table + n * section_size) for n in range(sections)]
        texts = data[heads[names][1] : sum(heads[names][1:])]
        for name, start, length in heads:
            title = texts[name : texts.index(b"\0", name)].decode(errors="replace")
            found[title] = data[start : start + length] if title == DYNAMIC_TEXTS else b""
    return ExecutableFile(machine, dynamic, frozenset(found), b"libcudart.so" in found.get(DYNAMIC_TEXTS, b""))


def why_not_started(command: str) -> str:
    """Why this machine cannot start a program, and what to do; "" where nothing speaks against it."""
    found = shutil.which(command)
    if found is None:
        path = Path(command)
        if os.sep in command and path.is_file():
            return f"it is not executable: chmod +x {command}, or name what runs it, as in `python {command}`"
        if path.is_dir():
            return "it is a folder"
        if not path.is_file():
            return "there is no such file" if os.sep in command else "there is no such program"
        return (
            f"it is a Python file: write `python {command}`" if path.suffix == ".py"
            else f"it is in this folder: write ./{command}"
        )  # fmt: skip
    try:
        with open(found, "rb") as file:
            head = file.read(20)
    except OSError as error:
        return error.strerror or "it cannot be read"
    if head[:4] != b"\x7fELF":
        return "" if head[:2] == b"#!" else "it is no executable: neither an ELF file nor a script that begins with #!"
    machine = int.from_bytes(head[18:20], "little")
    if machine != X86_64:
        name = MACHINES.get(machine, f"another machine (number {machine} of ELF)")
        return f"it is for {name}, and `warplens run` works on x86-64 alone: build it for this machine"
    return ""


def why_not_counted(command: str) -> str:
    """Why a program that ended without a call of CUDA's can have made none that is seen; "" where that is not known."""
    found = shutil.which(command)
    file = read(Path(found)) if found else None
    if file is None:
        return ""
    if not file.dynamic:
        return "it is linked statically as a whole (-static), so nothing can answer its calls: link it without -static"
    if CODE_SECTION not in file.sections:
        return "its file has no device code (no section .nv_fatbin)"
    return stripped(command)


def stripped(command: str) -> str:
    """A sentence on a program with CUDA's runtime in it whose functions cannot be found; "" for others."""
    found = shutil.which(command)
    file = read(Path(found)) if found else None
    if file and CODE_SECTION in file.sections and SYMBOLS not in file.sections and not file.shared_runtime:
        return (
            "it is stripped and has CUDA's runtime in it, so its calls cannot be answered: build it without strip "
            "or -s, or with `nvcc --cudart shared`"
        )
    return ""
