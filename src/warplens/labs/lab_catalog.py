"""Lab catalog: the labs in this folder."""

from __future__ import annotations

import difflib
from pathlib import Path

from warplens.errors import UsageError
from warplens.labs.lab import Lab
from warplens.launchspec.lab_toml import NAME

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Names of the labs shipped with warplens, without _template, which `warplens new lab` copies."""
    return sorted(path.parent.name for path in FOLDER.glob(f"[!_]*/{NAME}"))


def find(word: str) -> Lab:
    """A lab by its name, or by the path of its folder.  UsageError if there is none."""
    if word in names():
        return Lab.of(FOLDER / word)
    if (Path(word) / NAME).is_file() or "/" in word:
        return Lab.of(Path(word))
    close = difflib.get_close_matches(word, names(), 1, 0.6)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names())}."
    raise UsageError(f"no lab {word!r}; {hint} A lab of your own is given as a path, such as ./{word}")
