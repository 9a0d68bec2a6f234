"""Machine file fields: declares a key with its TOML table and bounds, and reads checked values.

A field's metadata names the table of its key and the smallest and largest plausible value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, field, fields
from typing import Any, NoReturn

from warplens.errors import UsageError
from warplens.machine.microarchitecture import Microarchitecture
from warplens.machine.parameter import Tables
from warplens.machine.unit_speeds import Speeds

CALIBRATION = "calibration"
RECORDS = (Speeds, Microarchitecture)
"""Records of parameters, whose tables parameter.py reads."""


def number(table: str, low: int, high: int) -> Any:
    return field(metadata={"table": table, "low": low, "high": high})


def numbers(table: str, low: int, high: int, length: int | None = None) -> Any:
    return field(metadata={"table": table, "low": low, "high": high, "many": True, "length": length})


def text(table: str) -> Any:
    return field(metadata={"table": table, "text": True})


def texts(table: str) -> Any:
    return field(metadata={"table": table, "text": True, "many": True, "length": None, "may_be_empty": True})


def flag(table: str) -> Any:
    return field(metadata={"table": table, "flag": True})


def tables_of(noun: type) -> frozenset[str]:
    """The tables of the keys of a noun."""
    return frozenset(f.metadata["table"] for f in fields(noun) if f.metadata)


PARAMETER_TABLES = frozenset(table for record in RECORDS for table in tables_of(record))


def sources_of(tables: Tables, file: str) -> dict[str, str]:
    """Table -> its `source`; a table without one is refused."""
    for table, content in tables.items():
        if not isinstance(content, Mapping):
            refuse(file, table, "", "must be a table")
        if not isinstance(content.get("source"), str) or not content["source"]:
            refuse(file, table, "source", "is missing: every table says where its numbers come from")
    return {table: content["source"] for table, content in tables.items()}


def values(noun: type, tables: Tables, file: str) -> dict[str, Any]:
    """What a noun is made of; UsageError names table and key of what is missing, absurd or not known."""
    wanted = [f for f in fields(noun) if f.metadata]
    known = {(f.metadata["table"], f.name) for f in wanted}
    sources_of(tables, file)
    for table, content in tables.items():
        for key in content if table not in PARAMETER_TABLES | {CALIBRATION} else ():
            if key != "source" and (table, key) not in known:
                refuse(file, table, key, "is no key of a description")
    return {f.name: _checked(f, tables, file) for f in wanted}


def _checked(wanted: Field[Any], tables: Tables, file: str) -> Any:
    rule, key = wanted.metadata, wanted.name
    table = rule["table"]
    value = tables.get(table, {}).get(key)
    if value is None:
        refuse(file, table, key, "is missing")
    if not rule.get("many"):
        return _one(value, rule, file, key)
    empty = not value and not rule.get("may_be_empty")
    if not isinstance(value, list) or empty or rule["length"] not in (None, len(value)):
        refuse(file, table, key, f"must be a list of {rule['length'] or 'one or more'}, not {value!r}")
    return tuple(_one(item, rule, file, key) for item in value)


def _one(value: object, rule: Mapping[str, Any], file: str, key: str) -> object:
    if rule.get("flag"):
        fits, wish = isinstance(value, bool), "must be true or false"
    elif rule.get("text"):
        fits, wish = isinstance(value, str) and bool(value), "must be a text"
    else:
        fits = isinstance(value, int) and not isinstance(value, bool) and rule["low"] <= value <= rule["high"]
        wish = f"must be a whole number from {rule['low']} to {rule['high']}"
    if not fits:
        refuse(file, rule["table"], key, f"{wish}, not {value!r}")
    return value


def refuse(file: str, table: str, key: str, why: str) -> NoReturn:
    raise UsageError(f"{file}: [{table}] {key} {why}".replace("  ", " "))
