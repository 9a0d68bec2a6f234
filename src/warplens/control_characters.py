"""Control characters: names and texts from files are shown with pictures in their place.

A terminal obeys them: a kernel's name or a line of its source could colour, overwrite or hide what stands around it.
"""

from __future__ import annotations

import re

# All of C0 but tab and line feed, DEL, C1, and what turns the direction of writing.
CONTROL = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PICTURES, DELETE, OTHER = 0x2400, "\u2421", "\ufffd"


def visible(text: str) -> str:
    """The text with a picture for each control character; lines and tabs stay."""
    return CONTROL.sub(_picture, text)


def escaped(document: str) -> str:
    r"""A JSON document with \u001b for those in its strings."""
    return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(PICTURES + code) if code < 0x20 else DELETE if code == 0x7F else OTHER
