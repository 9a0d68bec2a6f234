"""Results kept on disk by content: the same question is never worked out twice.

A key is the hash of everything that the result depends on, the sources of this package and the versions of the tools
included, so an entry never goes stale and may be deleted at any time.  `WARPLENS_CACHE` names the directory; "off"
keeps nothing.

A file begins with MAGIC, the length of its content and a digest of its name and content: one that was damaged is made
anew.  Machine code is run from here, so folders and files that others could have written are not read (`_private`).
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from warplens.system.atomic_write import write_whole


def directory() -> Path | None:
    """Where entries are kept, or None if the cache is switched off."""
    chosen = os.environ.get("WARPLENS_CACHE")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("warplens")


MAGIC = b"warplens cache 1\n"
DIGEST_BYTES = 32
HEAD_BYTES = len(MAGIC) + 8 + DIGEST_BYTES
PACKAGES = (
    "cuda-bindings", "llvmlite", "numpy", "nvidia-cuda-cccl", "nvidia-cuda-crt", "nvidia-cuda-nvcc",
    "nvidia-cuda-nvdisasm", "nvidia-cuda-nvrtc", "nvidia-cuda-runtime", "nvidia-nvvm",
)  # fmt: skip
SOURCES = (".py", ".toml")


@cache
def fingerprint() -> str:
    """What every result depends on: the sources of this package, by their contents, Python's version and that of each
    package that makes or runs code.  450 files, 2.1 MB: about 15 ms, once a process."""
    digest = hashlib.blake2b(sys.version.encode())
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    files = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    for file in sorted(file for file in files if file.endswith(SOURCES)):
        with open(file, "rb", buffering=0) as source:
            _add(digest, file[len(root) :].encode(), source.read())
    for package in PACKAGES:
        _add(digest, package.encode(), _version(package).encode())
    return digest.hexdigest()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def key(*parts: bytes | str) -> str:
    """A name for the result that depends on exactly these parts, and on the fingerprint."""
    digest = hashlib.sha256(fingerprint().encode())
    _add(digest, *(part.encode() if isinstance(part, str) else part for part in parts))
    return digest.hexdigest()


def _add(digest: hashlib.blake2b | hashlib._Hash, *parts: bytes) -> None:
    """With the lengths: parts cut differently are others."""
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)


def remember(kind: str, name: str, make: Callable[[], bytes]) -> bytes:
    """The bytes kept under kind/name; made and kept if they are not there.  A full or read-only disk is no error."""
    found = recall(kind, name)
    return keep(kind, name, make()) if found is None else found


def recall(kind: str, name: str) -> bytes | None:
    """The bytes kept under kind/name, if they are there, and whole."""
    folder = _folder(kind)
    if folder is None:
        return None
    path = folder / name
    try:
        with path.open("rb") as file:
            mine = _private(os.fstat(file.fileno()))
            kept = file.read()
    except OSError:
        return None
    data = kept[HEAD_BYTES:]
    if mine and kept[:HEAD_BYTES] == _head(kind, name, data):
        return data
    _say_damaged(path)
    with suppress(OSError):
        path.unlink()
    return None


def keep(kind: str, name: str, data: bytes) -> bytes:
    """Keeps the bytes under kind/name, and gives them back."""
    folder = _folder(kind)
    if folder is not None:
        with suppress(OSError):
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            write_whole(folder / name, _head(kind, name, data) + data, 0o600)  # also with two processes at once
    return data


def _head(kind: str, name: str, data: bytes) -> bytes:
    """Header of a file, before the content."""
    digest = hashlib.blake2b(f"{kind}/{name}\n".encode(), digest_size=DIGEST_BYTES)
    digest.update(data)
    return MAGIC + len(data).to_bytes(8, "little") + digest.digest()


def _folder(kind: str) -> Path | None:
    """Where entries of a kind are kept: a temporary folder, where others can write to the one that is named."""
    root = directory()
    if root is None:
        return None
    for folder in (root, root / kind):
        try:
            found = folder.stat()
        except OSError:
            continue  # not there yet
        if not _private(found):
            return Path(_temporary(str(folder)).name) / kind
    return root / kind


def _private(found: os.stat_result) -> bool:
    """Whether it is this user's (or root's), and no other user can write to it."""
    if sys.platform == "win32":
        return True  # has access lists in place of modes, and folders of a user are closed to others
    return found.st_uid in (os.getuid(), 0) and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@cache
def _temporary(shared: str) -> tempfile.TemporaryDirectory[str]:
    """For the life of the process."""
    _say(
        f"other users can write to the cache folder {shared}, so code kept there is not run, and a temporary folder is "
        "used: remove that folder, or let WARPLENS_CACHE name one that is yours and that others cannot write to"
    )
    return tempfile.TemporaryDirectory(prefix="warplens-")


def _say_damaged(path: Path) -> None:
    """Once for all that are."""
    if not _damaged:
        _say(f"{path} in the cache is damaged: it is made anew, as is any other that is found damaged")
    _damaged.append(path)


_damaged: list[Path] = []


def _say(what: str) -> None:
    if sys.stderr is not None:  # closed
        with suppress(OSError, ValueError):
            print(f"warning: {what}", file=sys.stderr)
