"""Catalog: finds a GPU by name; the folder is the list."""

from __future__ import annotations

import difflib
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from warplens.errors import UsageError
from warplens.machine.dram_channels import Channels, channels_from
from warplens.machine.fields import sources_of, tables_of
from warplens.machine.host_link import HostLink, host_link_from
from warplens.machine.parameter import Description
from warplens.machine.schema import Limits, Machine, limits_from, machine_from

FOLDER = Path(__file__).parent
REFERENCE = "h200.toml"
"""Description that has every parameter, and from which the other GPUs inherit those that they lack."""
MAKERS_WORDS = re.compile(r"\b(nvidia|geforce|tesla)\b|[^a-z0-9]")


@cache
def machines() -> tuple[str, ...]:
    """The GPUs that have a description, by the names of their files."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


@cache
def machine(name: str) -> Machine:
    """The GPU of that name; case, spaces, dashes and the maker's name do not matter ("NVIDIA RTX 4090").

    UsageError for a name that is not known, or for a description that misses something.
    """
    key = MAKERS_WORDS.sub("", name.casefold())
    if key not in machines():
        close = difflib.get_close_matches(key, machines(), 1, 0.8)
        known = f"; did you mean {close[0]}? Known are" if close else ", only"
        raise UsageError(
            f"no GPU {name!r} is known{known} {', '.join(machines())}; "
            f"a GPU is one TOML file: add {key or 'NAME'}.toml to {FOLDER}; "
            "`warplens calibrate` on that GPU measures its speeds"
        )
    return _load(key)


@cache
def _load(key: str) -> Machine:
    """The GPU's own file wins over that of its architecture, key by key."""
    file = f"{key}.toml"
    tables = _toml(FOLDER / file)
    sources_of(tables, file)
    own = {table: tables.pop(table) for table in tables_of(Limits) & tables.keys()}
    divided = {table: tables.pop(table) for table in tables_of(Channels) & tables.keys()}
    linked = {table: tables.pop(table) for table in tables_of(HostLink) & tables.keys()}
    arch_file, arch = _architecture(tables.get("gpu", {}).get("arch", ""), key)
    shared = {table: {**content, **own.get(table, {})} for table, content in arch.items()}
    channels = channels_from(divided, file) if divided else None
    host_link = host_link_from(linked, file) if linked else None
    limits = limits_from(shared, file if own else arch_file)
    descriptions = [Description(file, tables), Description(arch_file, shared)]
    if file != REFERENCE:
        descriptions.append(_reference())
    return machine_from(key, limits, descriptions, channels, host_link)


@cache
def _reference() -> Description:
    tables = _toml(FOLDER / REFERENCE)
    sources_of(tables, REFERENCE)
    return Description(REFERENCE, tables)


@cache
def _architecture(arch: str, key: str) -> tuple[str, dict[str, Any]]:
    path = FOLDER / "arch" / f"{arch}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.toml")))
        raise UsageError(f"{key}.toml: [gpu] arch must be one of {known}, not {arch!r}")
    return path.name, _toml(path)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name} is no valid TOML: {error}") from error
