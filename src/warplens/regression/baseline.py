"""Baseline: kernel records in a text file that is committed: TOML, one table a kernel, in the order of their names.

A table is whole by itself and has a checksum, so two branches that save different kernels merge line by line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warplens.core.cubin import SourceLine
from warplens.errors import UsageError
from warplens.regression.kernel_record import KernelKey, KernelRecord, LineCounts

VERSION = 1
HEAD = (
    "# Baseline of `warplens check`; to be committed.  `warplens check --save` writes it.\n"
    "# Each kernel has a checksum: save it again instead of editing it.\n"
    f"version = {VERSION}\n"
)
AGAIN = "restore the file, or write it again with `warplens check --save`"
TEXTS = ("name", "file", "arch", "gpu", "launch", "inputs", "code", "checksum")


@dataclass(frozen=True)
class Baseline:
    """Records by kernel; damaged: why an entry cannot be used, by kernel."""

    path: str = ""
    records: Mapping[KernelKey, KernelRecord] = field(default_factory=dict)
    damaged: Mapping[KernelKey, str] = field(default_factory=dict)


def read_baseline(path: Path, shown: str) -> Baseline:
    """UsageError where the file cannot be read at all; an entry that was edited is among the damaged ones."""
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {shown}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # no UTF-8, no TOML
        raise UsageError(f"{shown}: the baseline is damaged ({error}): {AGAIN}") from None
    if content.get("version") != VERSION:
        raise UsageError(
            f"{shown}: the baseline has format {content.get('version')!r}, this version of warplens reads {VERSION}: "
            f"{AGAIN}"
        )
    records: dict[KernelKey, KernelRecord] = {}
    damaged: dict[KernelKey, str] = {}
    tables = content.get("kernels", [])
    if not isinstance(tables, list):
        raise UsageError(f"{shown}: the baseline is damaged (kernels is no list of tables): {AGAIN}")
    for number, table in enumerate(tables, 1):
        where = f"{shown}:{_line(text, number)}"
        key, record = _entry(table)
        if key is None:
            raise UsageError(f"{where}: the baseline is damaged (entry {number} names no kernel): {AGAIN}")
        if record is None or record.checksum != table.get("checksum"):
            damaged[key] = f"{where}: the baseline's entry was edited or is damaged (its checksum differs): {AGAIN}"
        elif key in records:
            damaged[key] = f"{where}: the baseline has two entries of {key}: {AGAIN}"
        else:
            records[key] = record
    return Baseline(shown, {k: r for k, r in records.items() if k not in damaged}, damaged)


def _line(text: str, number: int) -> int:
    """Where the number-th table begins."""
    places = [n for n, line in enumerate(text.split("\n"), 1) if line.strip() == "[[kernels]]"]
    return places[number - 1] if number <= len(places) else 1


def _entry(table: Any) -> tuple[KernelKey | None, KernelRecord | None]:
    if not isinstance(table, dict) or any(not isinstance(table.get(key), str) for key in TEXTS[:4]):
        return None, None
    key = KernelKey(table["file"], table["name"], table["arch"], table["gpu"])
    try:
        columns = table.get("columns", [])
        record = KernelRecord(
            key, table["code"], table["launch"], table["inputs"],
            {str(name): str(version) for name, version in table["tools"].items()},
            {name: _number(value) for name, value in table["counts"].items()},
            tuple(_line_counts(row, columns) for row in table.get("lines", [])),
            table.get("sampled", False),
        )  # fmt: skip
        record.checksum  # noqa: B018 - of odd types there is none
    except (KeyError, TypeError, ValueError, AttributeError):
        return key, None
    return key, record


def _number(value: Any) -> float | int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(value)
    return value


def _line_counts(row: Any, columns: list[str]) -> LineCounts:
    place, text, *values = row
    file, _, line = place.rpartition(":")
    counts = {name: _number(value) for name, value in zip(columns, values, strict=True) if value}
    return LineCounts(SourceLine(file, int(line)), text, counts)


def baseline_text(records: Iterable[KernelRecord]) -> str:
    """The file; the same records give the same bytes."""
    ordered = sorted(records, key=lambda r: (r.key.file, r.key.name, r.key.arch, r.key.gpu))
    return "\n".join([HEAD, *map(_table, ordered)])


def _table(record: KernelRecord) -> str:
    key = record.key
    columns = sorted({name for line in record.lines for name in line.counts})
    tools = ", ".join(f"{_key(name)} = {_text(version)}" for name, version in sorted(record.tools.items()))
    rows = [
        ", ".join([
            _text(f"{line.place.file}:{line.place.line}"), _text(line.text),
            *(repr(line.counts.get(name, 0)) for name in columns),
        ])
        for line in record.lines
    ]  # fmt: skip
    lines = [
        "[[kernels]]",
        f"name = {_text(key.name)}",
        f"file = {_text(key.file)}",
        f"arch = {_text(key.arch)}",
        f"gpu = {_text(key.gpu)}",
        f"launch = {_text(record.launch)}",
        f"inputs = {_text(record.inputs)}",
        f"code = {_text(record.code)}",
        f"tools = {{ {tools} }}",
        f"checksum = {_text(record.checksum)}",
    ]
    lines += ["sampled = true"] if record.sampled else []
    if rows:
        lines += ["columns = [", *(f"  {_text(name)}," for name in columns), "]"]
        lines += ["lines = [", *(f"  [{row}]," for row in rows), "]"]
    lines += ["[kernels.counts]", *(f"{_key(name)} = {value!r}" for name, value in record.counts.items())]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    r"""A TOML string: JSON's escapes are TOML's, but for those of surrogates, and \u007f."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
