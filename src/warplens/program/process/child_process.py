"""Child process: starts the program, and ends all that it has started."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from warplens.errors import UsageError
from warplens.program.process.executable_file import why_not_started
from warplens.program.shim_library import NAMES

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER = 1, 36, 37
PATIENCE_SECONDS = 2.0  # for a program to end when it is asked to
POLL_SECONDS = 0.02


def start(
    command: Sequence[str], folder: Path, server: str, output: int | None = None
) -> subprocess.Popen[bytes]:  # fmt: skip
    """The program, with the library in this folder before all others.  UsageError if it cannot be started.

    output   a file descriptor for all that it prints; it then reads nothing
    """
    paths = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    preloaded = [str(folder / NAMES[0]), *filter(None, [os.environ.get("LD_PRELOAD")])]
    environment = os.environ | {
        "LD_LIBRARY_PATH": ":".join(paths), "LD_PRELOAD": ":".join(preloaded), "WARPLENS_SERVER": server,
    }  # fmt: skip
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    if reason := why_not_started(command[0]):
        raise UsageError(f"cannot run {command[0]}: {reason}")
    try:
        source = None if output is None else subprocess.DEVNULL
        return subprocess.Popen(
            command, env=environment, preexec_fn=end_with_parent, stdin=source, stdout=output, stderr=output
        )
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from None


@contextmanager
def nothing_left() -> Iterator[None]:
    """Context manager: ends all processes that were started within, also those whose parents have gone."""
    prctl, before = ctypes.CDLL(None).prctl, ctypes.c_int()
    prctl(PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    others = set(descendants())
    try:
        yield
    finally:
        end_all(others)
        prctl(PR_SET_CHILD_SUBREAPER, before.value)


def descendants() -> list[int]:
    """Processes that this one has started, and those that they have."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            _, _, rest = place.read_text(errors="replace").rpartition(")")
            children.setdefault(int(rest.split()[1]), []).append(int(place.parent.name))
    found = list(children.get(os.getpid(), ()))
    for process in found:  # grows
        found += children.get(process, ())
    return found


def end_all(others: set[int]) -> None:
    """Asks all descendants but the others to end, and ends them where they do not."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        until, asked = time.monotonic() + PATIENCE_SECONDS, set[int]()
        while left := [process for process in descendants() if process not in others and not _reaped(process)]:
            for process in left:
                if process not in asked:
                    asked.add(process)
                    with suppress(OSError):
                        os.kill(process, number)
            if time.monotonic() > until:
                break
            with suppress(KeyboardInterrupt):  # a second Ctrl-C: no more patience
                time.sleep(POLL_SECONDS)


def _reaped(process: int) -> bool:
    """Takes the exit code of a child that has ended; True where it has none."""
    with suppress(OSError):
        return os.waitpid(process, os.WNOHANG)[0] == process
    return False
