"""Include check: refuses `#include` of files outside of the kernel's folder, other than CUDA's own headers.

Every directive is followed, those under #if too.  What the compiler could read otherwise than this scanner (trigraphs,
names made by macros, lines continued within a source that has raw texts) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.errors import UsageError

MOST_FILES, MOST_BYTES = 500, 16 << 20
SPLICE = re.compile(r"\\[ \t]*\n")
RAW = re.compile(r'(?:\b|_)(?:u8|[uUL])?R"')
TRIGRAPHS = ("??=", "??/")
TOKEN = re.compile(
    r"""(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)")|(?P<name>[^\W\d]\w*)|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<noise>//[^\n]*|/\*.*?(?:\*/|\Z))""",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t\f\v]*(?:#|%:)[ \t\f\v]*(include(?:_next)?|import|embed)\b[ \t\f\v]*(.*)", re.MULTILINE)
QUESTION = re.compile(r"\b__has_(?:include|embed)(?:_next)?\b[ \t]*\(?\s*(.*)")
HEADER = re.compile(r'[<"]([^<>"\n]+)[>"]')
FILE_ARGUMENT = re.compile(r"\bfile\s*[:\s]\s*(\S+)")
WRITES = re.compile(r"-(-?)(create-pch|use-pch|pch|time|fdevice-time-trace|split-compile|dlto|ltoir)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directive:
    """Directive.  name: of the file; "" where a macro gives it"""

    line: int
    name: str


def check_includes(source: str, file: Path, options: Sequence[str]) -> None:
    """UsageError with file and line of the first #include that is refused.

    source   text of `file`, which need not be saved
    options  of the compiler
    """
    folder = file.parent.resolve()
    places = [folder, *_option_folders(options, folder)]
    waiting, seen, size = [(file, source)], {file.resolve()}, 0
    for place, text in waiting:  # grows
        size += len(text)
        if len(seen) > MOST_FILES or size > MOST_BYTES:
            raise UsageError(f"{file}:1: it includes more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB")
        for found in directives(text, str(place)):
            where = f"{place}:{found.line}"
            if not found.name:
                raise UsageError(f"{where}: #include by a macro is refused here: write the name of the file")
            for header in _candidates(found.name, place.parent, places):
                if not (header.is_relative_to(folder) and header.is_file()):
                    raise UsageError(
                        f"{where}: #include of {found.name} is refused: kernels may include files of their "
                        f"own folder, {folder}, and CUDA's headers"
                    )
                if header not in seen:
                    seen.add(header)
                    waiting.append((header, header.read_text("utf-8", errors="replace")))


def directives(text: str, file: str) -> Iterator[Directive]:
    """The files that a text includes, by line.  UsageError where the compiler might read it otherwise."""
    if any(trigraph in text for trigraph in TRIGRAPHS):
        raise UsageError(f"{file}:{_line(text, text.index('??'))}: trigraphs are refused here")
    if SPLICE.search(text) and (raw := RAW.search(text)):
        raise UsageError(f"{file}:{_line(text, raw.start())}: raw texts beside continued lines are refused here")
    spliced = SPLICE.sub("\x01", text)  # one mark for each: lines are counted with them
    code = TOKEN.sub(lambda found: _lines_of(found) if found["noise"] or found["raw"] else found[0], spliced)
    plain = code.replace("\x01", "")
    lines = [1]
    for line in code.split("\n"):
        lines.append(lines[-1] + 1 + line.count("\x01"))
    for found in (*DIRECTIVE.finditer(plain), *QUESTION.finditer(plain)):
        named = HEADER.match(found[found.lastindex or 0])
        yield Directive(lines[plain.count("\n", 0, found.start())], named[1] if named else "")


def check_options(options: Sequence[str], file: Path) -> None:
    """UsageError for an option of the compiler that writes a file, or names one outside of the kernel's folder."""
    folder = file.parent.resolve()
    for option in options:
        if WRITES.match(option):
            raise UsageError(f"{file}:1: the option {option} writes or reads files of the compiler: it is refused here")
        for value in re.split(r"[=\s]", option):
            path = Path(value.removeprefix("-I").removeprefix("-isystem"))
            if ("/" in value or path.exists()) and not (folder / path).resolve().is_relative_to(folder):
                raise UsageError(f"{file}:1: the option {option} is refused: {path} is outside of {folder}")


def check_argument_file(text: str, file: Path, line: int) -> None:
    """UsageError for an argument that is read from a file outside of the kernel's folder.  line: where it stands"""
    folder = file.parent.resolve()
    named = FILE_ARGUMENT.search(text)
    if named and ("~" in named[1] or not (folder / named[1]).resolve().is_relative_to(folder)):
        raise UsageError(f"{file}:{line}: the argument '{text}' is refused: its file is outside of {folder}")


def _lines_of(found: re.Match[str]) -> str:
    return " " + "".join(letter for letter in found[0] if letter in "\n\x01")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _option_folders(options: Sequence[str], folder: Path) -> Iterator[Path]:
    for option in options:
        for value in re.split(r"[=\s]", option):
            place = (folder / value.removeprefix("-I")).resolve()
            if value and place.is_dir() and place.is_relative_to(folder):
                yield place


def _candidates(name: str, origin: Path, places: Sequence[Path]) -> Iterator[Path]:
    """The file that the name means, without links; for one with "..", where it would be."""
    path = Path(name)
    if path.is_absolute() or ".." in path.parts:
        yield (origin / path).resolve()
        return
    for place in dict.fromkeys((origin, *places)):
        if (place / path).is_file():
            yield (place / path).resolve()
            return
