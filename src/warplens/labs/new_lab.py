"""New lab: creates a runnable lab folder from the template."""

from __future__ import annotations

import re
from pathlib import Path

from warplens.errors import UsageError
from warplens.labs.lab_catalog import FOLDER
from warplens.system.atomic_write import write_whole

TEMPLATE = FOLDER / "_template"
NAME = re.compile(r"[a-z][a-z0-9_]*")


def create(name: str, into: Path) -> Path:
    """Creates `into`/`name` with a lab of two rungs.  UsageError for an invalid name, or if it exists already."""
    if not NAME.fullmatch(name):
        raise UsageError(f"a lab cannot be called {name!r}; possible are small letters, digits and _, a letter first")
    folder = into / name
    try:
        folder.mkdir(parents=True)
        for path in sorted(TEMPLATE.iterdir()):
            if path.is_file():
                text = path.read_text(encoding="utf-8").replace("NAME", name)
                write_whole(folder / path.name, text.encode())
    except FileExistsError:
        raise UsageError(f"{folder} is there already: choose another name, or --into another folder") from None
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None
    return folder
