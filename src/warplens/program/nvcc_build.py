"""nvcc build: compiles the .cu files of a program with nvcc and the machine's g++; kept by content in the cache."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from warplens.errors import CompileError, UsageError
from warplens.system import disk_cache
from warplens.system.atomic_write import write_whole
from warplens.system.nvidia_wheels import program_of

LONGEST_SECONDS = 900
NO_NVCC = 'a .cu file is compiled by nvcc, which is missing: pip install "warplens[build]", or install CUDA 13'
NO_HOST_COMPILER = "nvcc needs a C++ compiler for the host's code, and there is none: install g++"


@contextmanager
def executable(sources: Sequence[str], arch: str, options: Sequence[str]) -> Iterator[Path]:
    """Context manager: the program made of these files.

    UsageError if a file or a compiler is missing, CompileError with nvcc's output.
    """
    for source in sources:
        if not Path(source).is_file():
            raise UsageError(f"no such file: {source}")
    command = [*_nvcc(), f"-arch={arch}", "-lineinfo", *options]
    name = Path(sources[0]).stem
    data, key = _built(command, sources)
    kept = disk_cache.directory()
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        place = (Path(folder) if kept is None else kept / "nvcc" / f"{key}.d") / name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not place.is_file() or place.read_bytes() != data:
            write_whole(place, data, 0o700)
        yield place


def _nvcc() -> list[str]:
    """nvcc of the machine, or of its wheel, which must be told where its libraries are."""
    if not (shutil.which("g++") or shutil.which("clang++")):
        raise UsageError(NO_HOST_COMPILER)
    if found := shutil.which("nvcc"):
        return [found]
    wheel = program_of("nvidia-cuda-nvcc", "nvcc")
    if wheel is None:
        raise UsageError(NO_NVCC)
    return [str(wheel[0]), f"-L{wheel[0].parent.parent / 'lib'}"]


def _built(command: list[str], sources: Sequence[str]) -> tuple[bytes, str]:
    """The program, and its key: it depends on all files that the sources include."""
    version = _run([*command[:1], "--version"])
    asked = disk_cache.key("nvcc includes", *command, version, *map(_content, map(Path, sources)), *sources)
    included = disk_cache.recall("nvcc", asked)
    files = json.loads(included) if included else []
    if not files or not all(Path(file).is_file() for file in files):
        files = _includes(command, sources)
        disk_cache.keep("nvcc", asked, json.dumps(files).encode())
    key = disk_cache.key("nvcc", asked, *map(_content, map(Path, files)))
    return disk_cache.remember("nvcc", key, lambda: _compiled(command, sources)), key


def _content(file: Path) -> bytes:
    return file.read_bytes()


def _includes(command: list[str], sources: Sequence[str]) -> list[str]:
    """The files of a make rule, "main.o : main.cu \\ ...", but for those of the system."""
    rules = b"\n".join(_run([*command, "-MM", source]) for source in sources).decode(errors="replace")
    words = shlex.split(rules.replace("\\\n", " "))
    return sorted({word for word in words if not word.endswith(":") and Path(word).is_file()})


def _compiled(command: list[str], sources: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        made = Path(folder) / "program"
        _run([*command, "-o", str(made), *sources])
        return made.read_bytes()


def _run(command: list[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        raise CompileError(f"nvcc took over {LONGEST_SECONDS} s") from None
    if done.returncode:
        output = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise CompileError(f"nvcc refused the program:\n{output}")
    return done.stdout
