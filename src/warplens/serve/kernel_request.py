"""Kernel request: what the page asks about: source text, GPU, architecture, sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from warplens.errors import UsageError

MOST_BYTES = 1_000_000  # of the source
MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class KernelRequest:
    """Kernel request, as typed in the page; "" where nothing was.

    source   text of the file
    kernel   title of the one that is meant, or all;  first: of the one that is on view
    names    of the launch block -> number or expression
    lab, rung, size   where the text is a rung's
    """

    source: str
    gpu: str = ""
    arch: str = ""
    kernel: str = ""
    first: str = ""
    lab: str = ""
    rung: str = ""
    size: str = "small"
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, document: Any) -> KernelRequest:
        """UsageError for anything but a mapping of these fields to text."""
        known = {field.name for field in fields(cls)}
        if not isinstance(document, dict) or not isinstance(document.get("source"), str) or document.keys() - known:
            raise UsageError(f"a request is a JSON object with source, and any of {', '.join(sorted(known))}")
        names = document.get("names", {})
        texts = [value for key, value in document.items() if key != "names"]
        if not isinstance(names, dict) or len(names) > MOST_NAMES:
            raise UsageError(f"names is an object of at most {MOST_NAMES} texts")
        if not all(isinstance(text, str) for text in (*texts, *names.values())):
            raise UsageError("the fields of a request are texts")
        if wrong := [name for name in names if not name.isidentifier()]:
            raise UsageError(f"{wrong[0]!r} is no name of a launch block")
        if len(document["source"].encode(errors="replace")) > MOST_BYTES:
            raise UsageError(f"the source is longer than {MOST_BYTES:,} bytes")
        if "\0" in document["source"]:
            raise UsageError("the source holds characters of 0")
        return cls(**document)

    def document(self) -> dict[str, Any]:
        return asdict(self)
