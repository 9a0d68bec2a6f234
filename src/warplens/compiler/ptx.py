"""ptxas: assembles PTX (of Numba, Triton, `nvcc -ptx`) to a cubin with NVIDIA's wheel.

It is of the version of the compiler here.  A program that loads PTX has it assembled by that of its driver, which may
make other machine code of it.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warplens.compiler import includes
from warplens.compiler.architecture import WITH_ITS_OWN, check_architecture
from warplens.errors import CompileError
from warplens.system import disk_cache
from warplens.system.nvidia_wheels import program_of

PACKAGE = "nvidia-cuda-nvcc"
LONGEST_SECONDS = 300
BEGINS = re.compile(r"(?:\s|//[^\n]*\n)*\.version\b")
TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)
HINTS = (
    ("Unsupported .version", 'this PTX is newer than ptxas here: pip install -U "nvidia-cuda-nvcc", or give the cubin'),
    ("SM version|compiled for architecture", "--arch names the architecture, where no --gpu does"),
)


def is_ptx(name: str, text: str = "") -> bool:
    """By the name, or by how the text begins."""
    return name.lower().endswith(".ptx") or BEGINS.match(text) is not None


def target(source: str, arch: str) -> str:
    """What to assemble for: code for sm_90a is, where sm_90 is asked for."""
    found = TARGET.search(source)
    return found[1] if found and found[1][:-1] == arch and found[1] in WITH_ITS_OWN else arch


def assemble(source: str, name: str, arch: str, options: Sequence[str] = ()) -> bytes:
    """The cubin of PTX, with the line table of its `.loc` lines; `options` go to ptxas as they are.

    Kept in the cache.  CompileError with ptxas's output, or if it is missing; UsageError for an unknown architecture.
    """
    check_architecture(arch)
    found = program_of(PACKAGE, "ptxas")
    if found is None:
        raise CompileError(f'PTX is assembled by ptxas, which is missing: pip install "{PACKAGE}>=13.0,<13.1"')
    ptxas, version = found
    arch = target(source, arch)
    files = includes.option_files(options)
    question = json.dumps([source, arch, list(options), files, str(ptxas), version])
    key = disk_cache.key("ptx", question)
    return disk_cache.remember("ptx", key, lambda: _assemble(ptxas, source, name, arch, options))


def _assemble(ptxas: Path, source: str, name: str, arch: str, options: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.ptx", Path(folder) / "made.cubin"
        given.write_text(source, encoding="utf-8")
        command = [str(ptxas), f"-arch={arch}", "-lineinfo", *options, str(given), "-o", str(made)]
        try:
            answer = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            raise CompileError(f"{name}: ptxas took over {LONGEST_SECONDS} s") from None
        if answer.returncode:
            output = (answer.stderr + answer.stdout).decode(errors="replace").strip()
            hints = "".join(f"\n({hint})" for cause, hint in HINTS if re.search(cause, output))
            raise CompileError(f"ptxas refused {name}:\n{output.replace(str(given), name)}{hints}")
        return made.read_bytes()
