"""Results kept on disk by content: the same question is never worked out twice.  F2.

A key is the hash of everything that the result depends on, tool versions included, so an entry never goes stale
and may be deleted at any time.  `WARPLENS_CACHE` names the directory; "off" keeps nothing.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
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


def key(*parts: bytes | str) -> str:
    """A name for the result that depends on exactly these parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


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
