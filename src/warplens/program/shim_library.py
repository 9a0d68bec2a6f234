"""Shim library: compiles the C sources in shim/ with the machine's compiler, at first use.

It is kept in the disk cache, and put into a folder under the names that programs load: libcuda, libcudart and NVML.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from warplens.errors import CompileError, UsageError
from warplens.system import disk_cache
from warplens.system.atomic_write import write_whole

SOURCES = Path(__file__).parent / "shim"
NAMES = (  # the first is its own
    "libcuda.so.1", "libcuda.so", "libcudart.so.13", "libcudart.so", "libnvidia-ml.so.1", "libnvidia-ml.so",
)  # fmt: skip
FLAGS = (
    "-O2", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1",
    f"-Wl,--version-script={SOURCES / 'symbols.map'}", f"-I{SOURCES}",
)  # fmt: skip
LIBRARIES = ("-ldl", "-lpthread")
LONGEST_SECONDS = 300
NO_COMPILER = (
    "`warplens run` compiles a small library in C, and there is no C compiler here: install gcc or clang, or "
    'pip install "warplens[program]", which brings one'
)


def compiler() -> list[str]:
    """The command of $CC, cc, gcc, clang, or the compiler in the ziglang wheel.  UsageError if there is none."""
    if chosen := os.environ.get("CC"):
        return shlex.split(chosen)
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name):
            return [found]
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise UsageError(NO_COMPILER)


@contextmanager
def library() -> Iterator[Path]:
    """Context manager: the folder with the library.  UsageError without a compiler, CompileError with its log."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise UsageError("`warplens run` works on Linux on x86-64 alone")
    command = compiler()
    sources = {path.name: path.read_bytes() for path in sorted(SOURCES.rglob("*.*")) if path.is_file()}
    version = _run([*command, "--version"]).stdout
    name = disk_cache.key("shim", *command, version, *(part for file in sources.items() for part in file))
    data = disk_cache.remember("shim", name, lambda: _compiled(command))
    kept = disk_cache.directory()
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
            yield _placed(Path(folder), data)
    else:
        yield _placed(kept / "shim" / f"{name}.d", data)


def _compiled(command: list[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        made = Path(folder) / NAMES[0]
        sources = sorted(str(path) for path in SOURCES.rglob("*.c"))
        done = _run([*command, *FLAGS, "-o", str(made), *sources, *LIBRARIES])
        if done.returncode:
            log = (done.stderr + done.stdout).decode(errors="replace").strip()
            raise CompileError(f"{shlex.join(command)} cannot compile the library of `warplens run`:\n{log}")
        return made.read_bytes()


def _run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
    except OSError as error:
        raise UsageError(f"the C compiler {command[0]} cannot be run: {error.strerror}; is CC right?") from None
    except subprocess.TimeoutExpired:
        raise CompileError(f"{shlex.join(command)} took over {LONGEST_SECONDS} s") from None


def _placed(folder: Path, data: bytes) -> Path:
    """The folder, with the library and its other names."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    own = folder / NAMES[0]
    if not own.is_file() or own.read_bytes() != data:
        write_whole(own, data, 0o700)
    for other in NAMES[1:]:
        if not (folder / other).is_symlink():
            (folder / other).symlink_to(NAMES[0])
    return folder
