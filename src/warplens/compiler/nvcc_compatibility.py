"""nvcc compatibility: prepares .cu files with host code for NVRTC.

nvcc splits a file: the host's compiler gets `main`, `<<< >>>` and `<iostream>`, the device's the kernels.  Here the
functions of the host are blanked out (host_code.py), headers that are not on this machine are empty or stood in for
(headers.py), and what nvcc includes by itself is included.  Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.compiler.headers import FOR_HOSTS, HEADERS, PRELUDE, stand_in
from warplens.compiler.host_code import device_macros, strip_host_code

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
ABSENT = re.compile(r'cannot open source file "([^"]+)"')
PRELUDE_NAME = "warplens/as_nvcc.h"
OPTIONS = ("-default-device", f"--pre-include={PRELUDE_NAME}", "-w")  # the libraries define some of the same constants
_HOST_LIBRARY = """\
algorithm any array assert.h atomic barrier bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono
cinttypes climits clocale cmath codecvt complex condition_variable csetjmp csignal cstdarg cstddef cstdint cstdio
cstdlib cstring ctime ctype.h cuchar cwchar deque dirent.h errno.h exception execution fcntl.h fenv.h filesystem
float.h format forward_list fstream functional future getopt.h initializer_list inttypes.h iomanip ios iosfwd iostream
istream iterator latch limits limits.h list locale locale.h malloc.h map math.h memory memory.h memory_resource mutex
new numbers numeric omp.h optional ostream pthread.h queue random ranges ratio regex sched.h scoped_allocator
semaphore set setjmp.h shared_mutex signal.h source_location span sstream stack stdarg.h stdbool.h stddef.h stdexcept
stdint.h stdio.h stdlib.h stop_token streambuf string string.h string_view strings.h sys/mman.h sys/resource.h
sys/stat.h sys/time.h sys/types.h sys/wait.h syncstream system_error thread time.h tuple type_traits typeindex
typeinfo unistd.h unordered_map unordered_set utility valarray variant vector version wchar.h windows.h"""
HOST_LIBRARY = frozenset(_HOST_LIBRARY.split())
NAMED = 6  # functions and headers that a message lists


@dataclass(frozen=True, slots=True)
class DevicePart:
    """What of a source NVRTC should compile.

    text      of the file;  headers: by the name in `#include`, in place of files
    left_out  functions of the host;  missing: headers that are nowhere, those of the host's libraries excepted
    kernels   whether the word __global__ is in it
    """

    text: str
    headers: Mapping[str, str]
    left_out: tuple[str, ...]
    missing: tuple[str, ...]
    kernels: bool

    def format(self) -> str:
        """For a reader of the compiler's log; "" where nothing was left out."""
        lines = []
        if self.left_out:
            lines.append(f"left out as host code: {listed(self.left_out)}")
        if self.missing:
            lines.append(
                f"left out, because not found: {listed(self.missing)}; if a kernel needs it, add its folder: "
                "--option=-IFOLDER"
            )
        if any(header.startswith("curand") for header in self.missing):
            lines.append("cuRAND's headers come with: pip install nvidia-curand")
        return "\n".join(lines)


def listed(names: Sequence[str]) -> str:
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def device_part(source: str, name: str, directories: Sequence[Path], whole: bool, absent: Sequence[str]) -> DevicePart:
    """
    name         of the file: headers in quotes are searched in its folder
    directories  where headers are
    whole        whether headers of C++ have all that there is for devices, which takes the compiler seconds
    absent       headers that the compiler has asked for in vain
    """
    own_headers = local_headers(source, name)
    macros = device_macros(source, *own_headers.values())
    found = strip_host_code(source, macros)
    headers = {PRELUDE_NAME: PRELUDE, **HEADERS}
    left_out, missing = list(found.left_out), []
    kernels = "__global__" in found.text
    wanted = [*_includes(source, Path(name).resolve().parent), *((header, None) for header in absent)]
    for header, local in wanted:  # grows
        if header in headers:
            continue
        if local is not None:
            text = local.read_text(encoding="utf-8", errors="replace")
            own = strip_host_code(text, macros)
            left_out += own.left_out
            headers[header] = own.text
            kernels |= "__global__" in own.text
            wanted += _includes(text, local.parent)
        elif (instead := stand_in(header, directories, whole)) is not None:
            headers[header] = instead
            if not (instead or header in HOST_LIBRARY or header.startswith(FOR_HOSTS)):
                missing.append(header)
    return DevicePart(found.text, headers, tuple(dict.fromkeys(left_out)), tuple(missing), kernels)


def local_headers(source: str, name: str) -> dict[str, str]:
    """The texts of headers in the file's folder and of those that they include, by path."""
    found: dict[str, str] = {}
    waiting = [(source, Path(name).resolve().parent)]
    for text, folder in waiting:  # grows
        for quote, header in INCLUDE.findall(text):
            path = folder / header
            if quote == '"' and str(path) not in found and path.is_file():
                found[str(path)] = path.read_text(encoding="utf-8", errors="replace")
                waiting.append((found[str(path)], path.parent))
    return found


def _includes(text: str, folder: Path) -> Iterator[tuple[str, Path | None]]:
    """Each header's name, and for one in the file's folder its path."""
    for quote, header in INCLUDE.findall(text):
        local = folder / header
        yield header, local if quote == '"' and local.is_file() else None


def folders(options: Sequence[str]) -> list[Path]:
    """Of the options -IDIR and --include-path=DIR."""
    found = [re.match(r"(?:-I|--include-path)[= ]?(.+)", option) for option in options]
    return [Path(match[1].strip()) for match in found if match]
