"""Atomic write: a file appears whole or not at all: written next to its place, then renamed."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from warplens.errors import UsageError


def write_whole(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replaces `path`, or leaves it as it was.  OSError if it cannot be written.

    mode: of its permissions; without it those that it has, or those of new files.  What is no ordinary file (a pipe,
    /dev/stdout) is written to as it is; a link keeps pointing to its file.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()
    if mode is None:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def check_place(path: str) -> None:
    """UsageError where no file can be written, before what shall be written is worked out."""
    if os.path.isdir(path):
        raise UsageError(f"cannot write {path}: it is a folder; name a file in it")
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise UsageError(f"cannot write {path}: there is no folder {folder}; make it first")


def _umask() -> int:
    """The process's mask of permissions, which can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
