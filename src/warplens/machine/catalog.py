"""From a name to a GPU; the folder is the list.  F2."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from warplens.errors import UsageError
from warplens.machine.schema import Limits, Machine, limits_from, machine_from, sources_of

FOLDER = Path(__file__).parent
MAKERS_WORDS = re.compile(r"\b(nvidia|geforce|tesla)\b|[^a-z0-9]")


@cache
def machines() -> tuple[str, ...]:
    """The GPUs that have a description, by the names of their files."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def machine(name: str) -> Machine:
    """The GPU of that name; case, spaces, dashes and the maker's words do not matter ("NVIDIA RTX 4090").

    UsageError for a name that is not known, or for a description that misses something.
    """
    key = MAKERS_WORDS.sub("", name.casefold())
    if key not in machines():
        raise UsageError(
            f"no GPU {name!r} is known, only {', '.join(machines())}; "
            f"a GPU is one TOML file: add {key or 'NAME'}.toml to {FOLDER}"
        )
    return _load(key)


@cache
def _load(key: str) -> Machine:
    tables = _toml(FOLDER / f"{key}.toml")
    limits, sources = _load_limits(tables.get("gpu", {}).get("arch", ""), key)
    return machine_from(tables, key, limits, sources)


@cache
def _load_limits(arch: str, key: str) -> tuple[Limits, dict[str, str]]:
    path = FOLDER / "arch" / f"{arch}.toml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in path.parent.glob("*.toml")))
        raise UsageError(f"{key}.toml: [gpu] arch must be one of {known}, not {arch!r}")
    tables = _toml(path)
    return limits_from(tables, path.name), sources_of(tables, path.name)


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name} is no valid TOML: {error}") from error
