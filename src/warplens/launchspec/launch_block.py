"""Launch block: launches from text: "64,64", and the comment block with the launches of a .cu file's kernels.

    // /// warplens
    // n = 16777216
    // [nccopy]
    // grid = "n / 128"
    // block = 128
    // args = ["random f32[n]", "zeros f32[n]", "n"]
    // ///

Between the first line and the last is TOML, after `//` and at most one blank (as in Python's PEP 723): names first,
then one table a kernel.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from warplens.core.launch import Dim3, Launch
from warplens.errors import UsageError
from warplens.launchspec.arguments import Argument, parse_arguments
from warplens.launchspec.expression import LARGEST, Names, Number, evaluate, evaluate_list, evaluate_whole, whole
from warplens.launchspec.pitched_array import USUAL_ALIGNMENT

Size: TypeAlias = int | str | tuple[int | str, ...]

_OPEN = re.compile(r"\s*//\s*///\s*warplens\s*")
_CLOSE = re.compile(r"\s*//\s*///\s*")
_COMMENT = re.compile(r"\s*// ?(.*)")
KERNEL_KEYS = ("grid", "block", "args", "shared", "cluster", "cooperative", "variables", "arch", "options", "name")
_FILE_KEYS = ("arch", "options")
_CROSSED = re.compile(r"\d+(\s*[xX]\s*\d+)+")


@dataclass(frozen=True, slots=True)
class KernelEntry:
    """Kernel entry: one table of the block, as written: sizes and arguments may still be expressions.

    title    the table's title
    name     the kernel: its plain name or a name expression such as "copy<float, 4>"; default: the title
    grid, block   None if the block does not set them
    shared   dynamic shared memory in bytes a block
    arch, options   for the compiler; default: those at the head of the block
    file, line      where the table begins
    cooperative     all blocks are resident at once
    cluster         blocks of a cluster; None if the launch does not set it
    variables       values of `__device__` and `__constant__` variables, in argument syntax
    sets            names of the file that this table replaces, as a rung of a lab does

    Flags replace single entries: `dataclasses.replace(entry, grid=(64, 64))`.
    """

    title: str
    name: str
    grid: Size | None
    block: Size | None
    shared: int | str
    args: tuple[str, ...]
    arch: str | None
    options: tuple[str, ...]
    file: str
    line: int
    cooperative: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, Number] = field(default_factory=dict)
    cluster: Size | None = None

    def clusters(self, names: Names) -> Dim3 | None:
        """Blocks of a cluster, evaluated.  UsageError with file and line."""
        return None if self.cluster is None else self._dim("cluster", self.cluster, names)

    def launch(self, names: Names) -> Launch:
        """Grid, block and shared memory, evaluated.  UsageError with file and line."""
        grid, block = self._dim("grid", self.grid, names), self._dim("block", self.block, names)
        return Launch(grid, block, self._shared(names), self.cooperative)

    def arguments(self, names: Names, alignment: int = USUAL_ALIGNMENT) -> tuple[Argument, ...]:
        """The arguments in order; file paths are relative to the .cu file's folder, rows of pitched arrays begin at
        multiples of `alignment` bytes."""
        try:
            return parse_arguments(self.args, names, Path(self.file).parent, alignment)
        except UsageError as error:
            self._refuse(str(error))

    def _dim(self, key: str, size: Size | None, names: Names) -> Dim3:
        if size is None:
            self._refuse(f"{key} is missing: add {key} = 128 to the table, or give --{key}")
        try:
            return to_dim(size, names)
        except UsageError as error:
            self._refuse(f"{key}: {error}")

    def _shared(self, names: Names) -> int:
        try:
            amount = evaluate_whole(str(self.shared), names)
        except UsageError as error:
            self._refuse(f"shared: {error}")
        if amount < 0:
            self._refuse(f"shared is {amount}; possible are bytes from 0")
        return amount

    def _refuse(self, reason: str) -> NoReturn:
        raise UsageError(f"{self.file}:{self.line}: [{self.title}] {reason}") from None


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """Launch file: the block of one file: `names` in order, as numbers or expressions; kernels by title."""

    file: str
    line: int
    names: Mapping[str, Number | str]
    kernels: Mapping[str, KernelEntry]
    noun: str = "the launch block"

    def values(self, settings: Names | None = None) -> dict[str, Number]:
        """All names, evaluated; `settings` (from `--set n=1024`) replace names, and those below are recomputed."""
        chosen = settings or {}
        for name in chosen.keys() - self.names.keys():
            known = ", ".join(self.names) or "none"
            raise UsageError(f"{self.file}:{self.line}: {self.noun} has no name '{name}'; it has {known}")
        values: dict[str, Number] = {}
        for name, value in self.names.items():
            try:
                given = chosen.get(name, value)
                values[name] = evaluate(given, values) if isinstance(given, str) else given
            except UsageError as error:
                raise UsageError(f"{self.file}:{self.line}: {name}: {error}") from None
        return values


def parse_dim(text: str, names: Names | None = None) -> Dim3:
    """ "8192", "64,64", "64x64x1" or "n / 16, m / 16" as (x, y, z).  UsageError unless 1 to 3 sizes."""
    body = text.strip()
    if body.startswith("(") and body.endswith(")") and "(" not in body[1:]:
        body = body[1:-1]
    if _CROSSED.fullmatch(body):
        body = re.sub("[xX]", ",", body)
    return _checked(text, [whole(text, value) for value in evaluate_list(body, names)])


def to_dim(size: Size, names: Names | None = None) -> Dim3:
    """A size of the block: a number, an expression, or a list of up to three of them."""
    if isinstance(size, tuple):
        return _checked(str(list(size)), [evaluate_whole(str(part), names) for part in size])
    return parse_dim(str(size), names)


def _checked(text: str, sizes: list[int]) -> Dim3:
    if not 1 <= len(sizes) <= 3:
        raise UsageError(f"'{text}' has {len(sizes)} sizes; possible are 1 to 3: x, y and z")
    if min(sizes) < 1:
        raise UsageError(f"'{text}' has the size {min(sizes)}; every size must be at least 1")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _values(value: Any) -> Iterator[Any]:
    """All leaf values of nested tables and lists."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _values(part)
    else:
        yield value


def read_launch_block(source: str, file: str) -> LaunchFile | None:
    """The launch block in the text of a .cu file, None if it has none.  UsageError with file and line."""
    lines = source.split("\n")  # lines as compilers count them; str.splitlines also splits at form feeds
    opening = [number for number, line in enumerate(lines, 1) if _OPEN.fullmatch(line)]
    if not opening:
        return None
    if len(opening) > 1:
        raise UsageError(f"{file}:{opening[1]}: a second launch block; join it with the one at line {opening[0]}")
    return Reader(file, opening[0], _content(lines, opening[0], file)).read()


def _content(lines: list[str], opening: int, file: str) -> list[str]:
    """The TOML lines of the block that opens at line `opening` (from 1)."""
    content: list[str] = []
    for line in lines[opening:]:
        comment = _COMMENT.fullmatch(line.rstrip("\r"))
        if _CLOSE.fullmatch(line):
            return content
        if comment is None:
            break
        content.append(comment[1])
    raise UsageError(
        f"{file}:{opening}: the launch block is not closed: its lines begin with //, and the last is '// ///'"
    )


@dataclass(frozen=True, slots=True)
class Reader:
    """Block reader; `content` begins in the line after `line`.  `noun`: name of the block in messages."""

    file: str
    line: int
    content: list[str]
    noun: str = "the launch block"

    def read(self) -> LaunchFile:
        top = self.toml()
        tables = {key: value for key, value in top.items() if isinstance(value, dict)}
        named = {key: value for key, value in top.items() if key not in (*tables, *_FILE_KEYS)}
        for key in set(KERNEL_KEYS) & named.keys():
            self.refuse(key, f"'{key}' belongs into a kernel's table, below a title such as [copy]")
        names = {key: self.name(key, value) for key, value in named.items()}
        common = {key: top[key] for key in _FILE_KEYS if key in top and key not in tables}
        entries = {title: self.entry(title, common | table) for title, table in tables.items()}
        return LaunchFile(self.file, self.line, names, entries)

    def toml(self) -> dict[str, Any]:
        try:
            read = tomllib.loads("\n".join(self.content))
        except (
            ValueError,
            RecursionError,
        ) as error:  # TOMLDecodeError, and numbers or nesting beyond Python's limits
            reason = str(error)
            place = re.search(r" \(at line (\d+), column \d+\)", reason)
            line = self.line + (int(place[1]) if place else len(self.content))
            reason = reason.replace(place[0], "") if place else reason
            raise UsageError(f"{self.file}:{line}: {self.noun} is not TOML: {reason}") from None
        if any(isinstance(value, int) and abs(value) >= LARGEST for value in _values(read)):
            raise UsageError(f"{self.file}:{self.line}: {self.noun} has a whole number of more than 128 bits")
        return read

    def name(self, key: str, value: Any) -> Number | str:
        if not key.isidentifier():
            self.refuse(key, f"'{key}' cannot be a name; possible are letters, digits and _")
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            self.refuse(key, f"{key} is a {_kind(value)}; possible are a number or an expression in quotes")
        return value

    def entry(self, title: str, table: dict[str, Any]) -> KernelEntry:
        for key in table.keys() - set(KERNEL_KEYS):
            known = ", ".join(KERNEL_KEYS)
            self.refuse(key, f"[{title}] has the unknown key '{key}'; known are {known}", title)
        return KernelEntry(
            title=title,
            name=self._text(title, "name", table.get("name")) or title,
            grid=self._size(title, "grid", table.get("grid")),
            block=self._size(title, "block", table.get("block")),
            shared=self._number(title, "shared", table.get("shared", 0)),
            args=self._arguments(title, table.get("args", [])),
            arch=self._text(title, "arch", table.get("arch")),
            options=self._options(title, table.get("options", [])),
            file=self.file,
            line=self._line_of(None, title),
            cooperative=self._truth(title, "cooperative", table.get("cooperative", False)),
            variables=self._variables(title, table.get("variables", {})),
            cluster=self._size(title, "cluster", table.get("cluster")),
        )

    def _truth(self, title: str, key: str, value: Any) -> bool:
        if not isinstance(value, bool):
            self.refuse(key, f"[{title}] {key} is a {_kind(value)}; possible are true and false", title)
        return value

    def _variables(self, title: str, value: Any) -> dict[str, str]:
        plain = isinstance(value, dict) and all(
            isinstance(item, str | int | float) and not isinstance(item, bool) for item in value.values()
        )
        if not plain:
            possible = 'a table such as { table = "random f32[256]", count = 0 }'
            self.refuse("variables", f"[{title}] variables must be {possible}", title)
        return {name: str(item) for name, item in value.items()}

    def _size(self, title: str, key: str, value: Any) -> Size | None:
        if isinstance(value, list) and value:
            return tuple(self._number(title, key, part) for part in value)
        return None if value is None else self._number(title, key, value)

    def _number(self, title: str, key: str, value: Any) -> int | str:
        if isinstance(value, bool) or not isinstance(value, int | str):
            several = "" if key == "shared" else ", or a list of up to 3"
            possible = f"a whole number or an expression in quotes{several}"
            self.refuse(key, f"[{title}] {key} is a {_kind(value)}; possible is {possible}", title)
        return value

    def _text(self, title: str, key: str, value: Any) -> str | None:
        if value is not None and (not isinstance(value, str) or not value):
            self.refuse(key, f"[{title}] {key} is a {_kind(value)}; possible is a text in quotes", title)
        return value

    def _options(self, title: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(option, str) for option in value):
            self.refuse("options", f'[{title}] options must be a list such as ["--use_fast_math"]', title)
        return tuple(value)

    def _arguments(self, title: str, value: Any) -> tuple[str, ...]:
        plain = isinstance(value, list) and all(
            isinstance(item, str | int | float) and not isinstance(item, bool) for item in value
        )
        if not plain:
            self.refuse("args", f'[{title}] args must be a list such as ["random f32[n]", "n", 2.5]', title)
        return tuple(str(item) for item in value)

    def refuse(self, key: str, reason: str, title: str | None = None) -> NoReturn:
        raise UsageError(f"{self.file}:{self._line_of(key, title)}: {reason}")

    def _line_of(self, key: str | None, title: str | None) -> int:
        """Line of `key` in the table (None: of the table), or else the block's first line."""
        table: str | None = None
        found = self.line
        for number, text in enumerate(self.content, self.line + 1):
            if header := re.match(r"\s*\[\s*(.+?)\s*\]\s*(#.*)?$", text):
                table = header[1].strip("\"'")
                found = number if table == title else found
            if key is None and table == title:
                return number
            if key is not None and table in (title, None) and _sets(text, key):
                return number
        return found


def _sets(text: str, key: str) -> bool:
    return re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=", text) is not None


def _kind(value: object) -> str:
    words = {bool: "truth value", int: "number", float: "fraction", str: "text", list: "list", dict: "table"}
    return words.get(type(value), "date")
