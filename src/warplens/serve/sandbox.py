"""Sandbox: what a process may still do: limits of memory and processor, and files (Linux's Landlock).

Landlock's rules hold for the thread that sets them and all that it starts, so they are set before there are others.
Where the kernel lacks it, the limits and the check of `#include` (include_check.py) remain.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
import signal
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE, READ, READ_DIRECTORY = 1, 2, 4, 8
ON_FILES = EXECUTE | WRITE | READ | 1 << 14  # truncate
FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}  # by version; from 5 on ioctl of devices
NO_DEVICES, NO_TCP, SIGNALS_AND_SOCKETS = 5, 4, 6  # first versions that have them
LARGEST_FILE = 1 << 28
SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/proc", "/etc/ld.so.cache", "/etc/localtime", "/sys/devices")
DEVICES = ("/dev/null", "/dev/urandom", "/dev/zero")


def end_with(parent: int) -> None:
    """Ends this process when its parent does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def limit_memory(more: int) -> None:
    """So many bytes more than this process has mapped now.  Files that it writes, too, and no core file."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + more, mapped + more))
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_processor(seconds: float) -> None:
    """So many seconds of processor from now on: SIGXCPU ends the process then."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def restrict_files(read: Iterable[Path], write: Iterable[Path]) -> bool:
    """From now on this thread, and what it starts, can read only below these folders and those of Python and the
    system, and write only below the others; it can use no TCP and signal no process outside.  False without Landlock.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE_RULESET, None, 0, VERSION) if sys.platform == "linux" else -1
    if version < 1:
        return False
    rights = FILE_RIGHTS.get(version, FILE_RIGHTS[3]) | (1 << 15 if version >= NO_DEVICES else 0)
    handled = struct.pack("<QQQ", rights, 3 if version >= NO_TCP else 0, 3 if version >= SIGNALS_AND_SOCKETS else 0)
    size = 24 if version >= SIGNALS_AND_SOCKETS else 16 if version >= NO_TCP else 8
    ruleset = libc.syscall(CREATE_RULESET, ctypes.c_char_p(handled), size, 0)
    if ruleset < 0:
        return False
    try:
        for place in (*_of_python(), *map(Path, SYSTEM), *read):
            _allow(libc, ruleset, place, EXECUTE | READ | READ_DIRECTORY)
        for place in (*map(Path, DEVICES), *write):
            _allow(libc, ruleset, place, rights & ~EXECUTE)
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _of_python() -> Sequence[Path]:
    """The interpreter with its libraries, and the folders from which modules are imported."""
    places = {sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)), *filter(None, sys.path)}
    return [Path(place) for place in sorted(places)]


def _allow(libc: ctypes.CDLL, ruleset: int, place: Path, rights: int) -> None:
    with suppress(OSError):  # what is not there needs no rule
        found = os.open(place, os.O_PATH | os.O_CLOEXEC)
        try:
            allowed = rights if place.is_dir() else rights & ON_FILES
            rule = struct.pack("<Qi", allowed, found)
            libc.syscall(ADD_RULE, ruleset, PATH_BENEATH, ctypes.c_char_p(rule), 0)
        finally:
            os.close(found)
