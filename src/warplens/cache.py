"""Results kept on disk by content: the same question is never worked out twice.  F2.

A key is the hash of everything that the result depends on, the sources of this package and the versions of the tools
included, so an entry never goes stale and may be deleted at any time.  `WARPLENS_CACHE` names the directory; "off"
keeps nothing.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from warplens.whole_file import write_whole


def directory() -> Path | None:
    """Where entries are kept, or None if the cache is switched off."""
    chosen = os.environ.get("WARPLENS_CACHE")
    if chosen == "off":
        return None
    if chosen:
        return Path(chosen)
    from platformdirs import user_cache_path

    return user_cache_path("warplens")


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
    root = os.path.dirname(os.path.abspath(__file__))
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
    """The bytes kept under kind/name, if there are any."""
    root = directory()
    if root is None:
        return None
    try:
        return (root / kind / name).read_bytes()
    except OSError:
        return None


def keep(kind: str, name: str, data: bytes) -> bytes:
    """Keeps the bytes under kind/name, and gives them back."""
    root = directory()
    if root is not None:
        path = root / kind / name
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, data)  # also with two processes at once
    return data
