"""Output on terminals that have no Unicode: letters that they lack are spelled out."""

from __future__ import annotations

import codecs
import io
from typing import TextIO

SPELLED = {"µ": "u", "×": "x", "–": "-", "—": "-", "…": "...", "█": "#", "─": "-", "│": "|", "≥": ">=", "≤": "<="}
NAME = "warplens-spelled"


def spell_out(*streams: TextIO) -> None:
    """From now on these streams write "us" for "µs", or "?", where their encoding lacks a letter."""
    codecs.register_error(NAME, _spelled)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors=NAME)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    return "".join(SPELLED.get(letter, "?") for letter in missing), error.end
