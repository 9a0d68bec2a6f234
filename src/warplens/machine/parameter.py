"""Parameter: a number of the time model, with its unit and where it comes from.

measured    read from a measurement: the file under measurements/ or of a list in tests/validation/, and the rows
published   taken from a document, which is named
assumed     chosen, or fitted by hand, because no program gives it: why, and for what it holds

The numbers of a GPU are in its description, under a `source` that begins with one of these words: that of their table,
or their own in [TABLE.sources].  A number that neither the description of a GPU nor that of its architecture has is
inherited from the description of the H200.  Numbers of the model itself are declared beside their use, by the three
functions below, which return the value as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

from warplens.errors import UsageError

Tables = Mapping[str, Any]
Number = TypeVar("Number")
KINDS = ("measured", "published", "assumed")
TEXTS = ("source", "sources")  # of a table: of all its keys, and of some that have another
PREFIXES = {
    "pipe_cycles": "pipe_", "latency_cycles": "latency_", "l2_rates": "l2_", "dram_scatter": "scatter_",
    "constant_cache": "constant_", "instruction_cache": "code_", "matrix_shapes": "shape_", "l2_merging": "merge_",
    "l2_lookups": "lookups_",
}  # fmt: skip


def measured(value: Number, unit: str, source: str) -> Number:
    """A number that was read from a measurement.  source: its file, and what was read there."""
    return value


def published(value: Number, unit: str, source: str) -> Number:
    """A number from a document.  source: which, and where in it."""
    return value


def assumed(value: Number, unit: str, why: str, scope: str = "every GPU") -> Number:
    """A number that was chosen.  why: the reason for this value;  scope: for what it holds."""
    return value


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number of a GPU.

    name       "table.key" of its description;  source: begins with its kind
    declared   file with the number: "l4.toml", "sm_89.toml", or "h200.toml" where it is inherited
    """

    name: str
    value: float
    unit: str
    source: str
    declared: str

    @property
    def kind(self) -> str:
        return self.source.partition(":")[0]


class Description(NamedTuple):
    """A file of machine/, and its tables."""

    file: str
    tables: Tables


def parameter(table: str, low: float, high: float, unit: str = "cycles") -> Any:
    """A field of a record of parameters: the table of its key, the smallest and the largest plausible value."""
    return field(metadata={"table": table, "low": low, "high": high, "unit": unit})


def key_of(name: str, table: str) -> str:
    """The key of a field in its table: its name, without a prefix that the table's name makes superfluous."""
    return name.removeprefix(PREFIXES.get(table, ""))


def parameters_of(record: type, descriptions: Sequence[Description]) -> dict[str, Parameter]:
    """By field of `record`, the parameter in the first of the descriptions that has it.

    UsageError names file, table and key of what is missing, absurd, or without a kind.
    """
    found = {}
    for f in fields(record):
        table, key = f.metadata["table"], key_of(f.name, f.metadata["table"])
        having = next((d for d in descriptions if key in d.tables.get(table, ())), None)
        if having is None:
            raise UsageError(f"{descriptions[-1].file}: [{table}] {key} is missing")
        content = having.tables[table]
        value, source = content[key], content.get("sources", {}).get(key, content["source"])
        where = f"{having.file}: [{table}] {key}"
        low, high = f.metadata["low"], f.metadata["high"]
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise UsageError(f"{where} must be a number from {low} to {high}, not {value!r}")
        if source.partition(": ")[0] not in KINDS:
            raise UsageError(f"{where}: its source must begin with {', '.join(KINDS)} and a colon, not {source!r}")
        found[f.name] = Parameter(f"{table}.{key}", float(value), f.metadata["unit"], source, having.file)
    return found


def refuse_unknown(records: Iterable[type], descriptions: Iterable[Description]) -> None:
    """UsageError for a key in a table of parameters that is none."""
    known = {(f.metadata["table"], key_of(f.name, f.metadata["table"])) for record in records for f in fields(record)}
    for description in descriptions:
        for table in {table for table, _ in known} & description.tables.keys():
            content = description.tables[table]
            for key in (*content, *content.get("sources", ())):
                if key not in TEXTS and (table, key) not in known:
                    raise UsageError(f"{description.file}: [{table}] {key} is no key of a description")
