"""Include closure: the files that a compilation may open, by their contents, so that a cached result depends on them.

NVRTC does not report which files it opened, and which it did not find.  So each #include is followed as NVRTC does,
those under #if and in comments too: a file too many is one compilation more, a file too few a stale result.  A file
that is not there yet becomes part of the closure once it is.  Headers of the wheels are known by the wheels' versions;
what these include and no wheel has are headers of the host's C and C++ libraries.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from warplens.compiler.nvcc_compatibility import HOST_LIBRARY

SPLICE = re.compile(r"\\[ \t]*\r?\n")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t\f\v]*(?:#|%:)[ \t\f\v]*include(?:_next)?\b[ \t\f\v]*(.*)", re.MULTILINE)
QUESTION = re.compile(r"\b__has_include(?:_next)?[ \t]*\(\s*(.*)")
HEADER = re.compile(r'([<"])([^<>"\n]+)[>"]')

Name = tuple[bool, str]
"""Whether it is in quotes, and the header."""


def digests(source: str, folder: Path, options: Sequence[str], wheels: Sequence[Path]) -> dict[str, str] | None:
    """The SHA-256 of each file that compiling the source may open, by path; None if a macro names what is included,
    or if one cannot be read.

    folder   of the source, where headers are looked for as well
    options  of the compiler: whatever they name may be a folder of headers or a header
    """
    named = [Path(value).absolute() for option in options for value in _values(option)]
    places = [folder, *named]
    found: dict[str, str] = {}
    words = [(False, value) for option in options for value in _values(option)]
    waiting = [(names_in(source), folder), (words, folder), ([(False, str(path)) for path in named], folder)]
    for names, origin in waiting:  # grows
        if names is None:
            return None
        for quoted, name in names:
            if quoted and os.path.isfile(origin / name):
                candidates = [origin / name]
            elif any(os.path.isfile(wheel / name) for wheel in wheels):
                candidates = [place / missing for missing in sorted(HOST_LIBRARY) for place in places]
            else:
                candidates = [place / name for place in places]
            for path in candidates:
                if str(path) not in found and os.path.isfile(path):
                    try:
                        data = path.read_bytes()
                    except OSError:  # the compiler may report it
                        return None
                    found[str(path)] = hashlib.sha256(data).hexdigest()
                    waiting.append((names_in(data.decode(errors="replace")), path.parent))
    return found


def names_in(text: str) -> list[Name] | None:
    """The headers that a text includes or asks for; None where a macro gives the name."""
    text = SPLICE.sub("", text)
    code = COMMENT.sub(" ", text)
    asked = [HEADER.match(given) for given in _asked(code)]
    if None in asked:
        return None
    asked += [HEADER.match(given) for given in _asked(text)]  # "/*" in a string begins no comment
    return list(dict.fromkeys((name[1] == '"', name[2]) for name in asked if name))


def _asked(text: str) -> list[str]:
    return [*DIRECTIVE.findall(text), *QUESTION.findall(text)]


def _values(option: str) -> list[str]:
    """What an option may name: -IDIR, --include-path=DIR, "-include FILE", or the word after an option."""
    values = (option.removeprefix("-I"), option.partition("=")[2], option.partition(" ")[2])
    return [value.strip() for value in values if value.strip() and not value.startswith("-")]


def option_files(options: Sequence[str]) -> list[str]:
    """The SHA-256 of each file that an option names."""
    files = [value for option in options for value in (option, *_values(option)) if os.path.isfile(value)]
    return [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files]
