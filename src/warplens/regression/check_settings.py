"""Check settings: what `warplens check` reads from warplens.toml or [tool.warplens] of pyproject.toml."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

from warplens.errors import UsageError

OWN, SHARED = "warplens.toml", "pyproject.toml"
USUAL_BASELINE = "warplens-baseline.toml"
LAUNCH_KEYS = ("grid", "block", "args", "shared", "cluster", "set")
KERNEL_KEYS = ("budgets", "skip", *LAUNCH_KEYS)
PROGRAM_KEYS = ("command", "name", "budgets")
KEYS = (
    "files", "exclude", "arch", "gpu", "options", "baseline", "budgets", "fail_on", "sample", "instructions",
    "kernels", "programs",
)  # fmt: skip
INEXACT = ("predictions", "samples")
"""What `fail_on` may name: budgets on such counts fail only where it does."""


@dataclass(frozen=True)
class KernelRule:
    """Kernel rule: one table [kernels.PATTERN]; launch: keys of a launch block, for files that have none."""

    pattern: str
    budgets: tuple[str, ...] = ()
    skip: bool = False
    launch: Mapping[str, Any] = field(default_factory=dict)

    def matches(self, name: str) -> bool:
        return name == self.pattern or fnmatchcase(name, self.pattern)


@dataclass(frozen=True)
class ProgramRule:
    """Program rule: one table [[programs]]: a whole program whose launches are checked."""

    command: tuple[str, ...]
    name: str
    budgets: tuple[str, ...] = ()


@dataclass(frozen=True)
class CheckSettings:
    """Check settings.

    folder        paths are relative to it;  source: the file that was read, "" for none
    arch, gpu     each kernel is checked for each of them; () for the default
    instructions  that a warp may execute before this is called an endless loop
    """

    folder: Path
    source: str = ""
    files: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    arch: tuple[str, ...] = ()
    gpu: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    baseline: str = USUAL_BASELINE
    budgets: tuple[str, ...] = ()
    fail_on: tuple[str, ...] = ()
    sample: int | None = None
    instructions: int | None = None
    kernels: tuple[KernelRule, ...] = ()
    programs: tuple[ProgramRule, ...] = ()

    def rules_of(self, name: str) -> tuple[KernelRule, ...]:
        return tuple(rule for rule in self.kernels if rule.matches(name))

    def paths(self) -> list[Path]:
        """The files that the patterns mean, in order.  UsageError for a pattern without any."""
        found: dict[Path, None] = {}
        for pattern in self.files:
            matched = sorted(path for path in self.folder.glob(pattern) if path.is_file())
            if not matched:
                raise UsageError(f"{self.source}: files: {pattern!r} matches no file in {self.folder}")
            found |= dict.fromkeys(matched)
        left_out = {path for pattern in self.exclude for path in self.folder.glob(pattern)}
        return [path for path in found if path not in left_out]


def settings_for(start: Path) -> CheckSettings:
    """The settings of the nearest warplens.toml or pyproject.toml with [tool.warplens], from this folder upwards;
    without one the defaults, in this folder.  UsageError."""
    for folder in (start, *start.parents):
        own, shared = folder / OWN, folder / SHARED
        if own.is_file():
            return read_settings(own)
        if shared.is_file() and (table := _table(shared)) is not None:
            return _SettingsReader(shared, table).settings()
    return CheckSettings(start)


def read_settings(path: Path) -> CheckSettings:
    """Those of one file.  UsageError."""
    table = _table(path)
    if table is None:
        raise UsageError(f"{path} has no table [tool.warplens]")
    return _SettingsReader(path, table).settings()


def _table(path: Path) -> dict[str, Any] | None:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    if path.name != SHARED:
        return content
    tools = content.get("tool", {})
    found = tools.get("warplens") if isinstance(tools, dict) else None
    return found if isinstance(found, dict) else None


class _SettingsReader:
    """Checks each key: a wrong one is named, with those that are known."""

    def __init__(self, path: Path, table: Mapping[str, Any]) -> None:
        self.path, self.table = path, table

    def settings(self) -> CheckSettings:
        table = self.table
        self._known("", table, KEYS)
        fail_on = self._texts("fail_on", table)
        for word in fail_on:
            if word not in INEXACT:
                self._refuse(f"fail_on: {word!r} is not known; possible are {', '.join(INEXACT)}")
        baseline = table.get("baseline", USUAL_BASELINE)
        if not isinstance(baseline, str) or not baseline:
            self._refuse("baseline must be the name of a file")
        return CheckSettings(
            self.path.parent, str(self.path), self._texts("files", table), self._texts("exclude", table),
            self._texts("arch", table), self._texts("gpu", table), self._texts("options", table), baseline,
            self._texts("budgets", table), fail_on, self._whole("sample", 3), self._whole("instructions", 1),
            tuple(self._kernel(name, rule) for name, rule in self._tables("kernels")),
            tuple(map(self._program, table.get("programs", []))),
        )  # fmt: skip

    def _tables(self, key: str) -> list[tuple[str, Any]]:
        tables = self.table.get(key, {})
        if not isinstance(tables, dict):
            self._refuse(f"{key} must be tables such as [{key}.copy]")
        return list(tables.items())

    def _kernel(self, name: str, rule: Any) -> KernelRule:
        where = f"[kernels.{name}]"
        if not isinstance(rule, dict):
            self._refuse(f"{where} must be a table")
        self._known(f"{where} ", rule, KERNEL_KEYS)
        if not isinstance(skip := rule.get("skip", False), bool):
            self._refuse(f"{where} skip must be true or false")
        launch = {key: rule[key] for key in LAUNCH_KEYS if key in rule}
        return KernelRule(name, self._texts("budgets", rule, where), skip, launch)

    def _program(self, rule: Any) -> ProgramRule:
        if not isinstance(rule, dict):
            self._refuse("programs must be tables [[programs]]")
        self._known("[[programs]] ", rule, PROGRAM_KEYS)
        command = self._texts("command", rule, "[[programs]]")
        name = rule.get("name", command[0] if command else "")
        if not command or not isinstance(name, str):
            self._refuse('[[programs]] needs a command such as ["./app", "--small"]')
        return ProgramRule(command, name, self._texts("budgets", rule, "[[programs]]"))

    def _texts(self, key: str, table: Mapping[str, Any], where: str = "") -> tuple[str, ...]:
        value = table.get(key, [])
        texts: Sequence[Any] = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._refuse(f"{where} {key} must be a text in quotes or a list of them".strip())
        return tuple(texts)

    def _whole(self, key: str, least: int) -> int | None:
        value = self.table.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            self._refuse(f"{key} must be a whole number from {least}")
        return value

    def _known(self, where: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
        for key in table:
            if key not in keys:
                close = difflib.get_close_matches(key, keys, 1)
                hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(keys)}"
                self._refuse(f"{where}the key {key!r} is not known; {hint}")

    def _refuse(self, reason: str) -> NoReturn:
        raise UsageError(f"{self.path}: {reason}")
