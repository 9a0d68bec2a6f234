"""Shim library: compiles the C sources in shim/ with the machine's compiler, at first use.

It is kept in the disk cache, and put into a folder under the names that programs load: libcuda, libcudart and NVML.
The runtime of CUDA 12, whose symbols have another version, is a second library: functions of nothing but room for a
jump to those of the first, which it puts there when it finds such a library (shim/static_runtime.c).
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
from io import BytesIO
from pathlib import Path

from warplens.errors import CompileError, UsageError
from warplens.system import disk_cache
from warplens.system.atomic_write import write_whole

SOURCES = Path(__file__).parent / "shim"
NAMES = (  # the first is its own
    "libcuda.so.1", "libcuda.so", "libcudart.so.13", "libcudart.so", "libnvidia-ml.so.1", "libnvidia-ml.so",
)  # fmt: skip
FLAGS = (
    "-O1", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1",
    f"-Wl,--version-script={SOURCES / 'symbols.map'}", f"-I{SOURCES}",
)  # fmt: skip
LIBRARIES = ("-ldl", "-lpthread")
RUNTIME_12 = "libcudart.so.12"
JUMP_BYTES = 16  # of one to an address of 64 bits, and to the next multiple
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
    older = disk_cache.remember("shim12", name, lambda: _runtime_12(command, data))
    kept = disk_cache.directory()
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
            yield _placed(Path(folder), data, older)
    else:
        yield _placed(kept / "shim" / f"{name}.d", data, older)


def _compiled(command: list[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        made = Path(folder) / NAMES[0]
        sources = sorted(str(path) for path in SOURCES.rglob("*.c"))
        done = _run([*command, *FLAGS, "-o", str(made), *sources, *LIBRARIES])
        if done.returncode:
            log = (done.stderr + done.stdout).decode(errors="replace").strip()
            raise CompileError(f"{shlex.join(command)} cannot compile the library of `warplens run`:\n{log}")
        return made.read_bytes()


def _runtime_12(command: list[str], library: bytes) -> bytes:
    functions = functions_of(library)
    own = [name for name in functions if name.startswith(("cuda", "__cuda")) and not name.endswith("_12")]
    return empty_library(command, RUNTIME_12, own, f"{RUNTIME_12} {{ global: cuda*; __cuda*; }};\n")


def functions_of(library: bytes) -> list[str]:
    """Names that a shared library gives to others."""
    from elftools.elf.elffile import ELFFile

    table = ELFFile(BytesIO(library)).get_section_by_name(".dynsym")
    return sorted({symbol.name for symbol in table.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"})


def empty_library(command: list[str], name: str, functions: list[str], versions: str = "") -> bytes:
    """A shared library of this file name whose functions are nothing but room for a jump.

    versions   the linker's script of versions of symbols
    """
    function = ".globl {0}\n.type {0}, @function\n.balign {1}\n{0}: .skip {1}, 0xcc\n.size {0}, {1}\n"
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        source, script, made = (Path(folder) / file for file in ("names.s", "names.map", name))
        text = "".join(function.format(one, JUMP_BYTES) for one in functions)
        source.write_text(f'.text\n{text}.section .note.GNU-stack, "", @progbits\n')
        script.write_text(versions)
        flags = ["-shared", "-nostdlib", f"-Wl,-soname,{name}"]
        flags += [f"-Wl,--version-script={script}"] if versions else []
        done = _run([*command, *flags, "-o", str(made), str(source)])
        if done.returncode:
            log = (done.stderr + done.stdout).decode(errors="replace").strip()
            raise CompileError(f"{shlex.join(command)} cannot link {name} of `warplens run`:\n{log}")
        return made.read_bytes()


def _run(command: list[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
    except OSError as error:
        raise UsageError(f"the C compiler {command[0]} cannot be run: {error.strerror}; is CC right?") from None
    except subprocess.TimeoutExpired:
        raise CompileError(f"{shlex.join(command)} took over {LONGEST_SECONDS} s") from None


def _placed(folder: Path, data: bytes, older: bytes) -> Path:
    """The folder, with the libraries and the other names of the first."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file, content in ((folder / NAMES[0], data), (folder / RUNTIME_12, older)):
        if not file.is_file() or file.read_bytes() != content:
            write_whole(file, content, 0o700)
    for other in NAMES[1:]:
        if not (folder / other).is_symlink():
            (folder / other).symlink_to(NAMES[0])
    return folder
