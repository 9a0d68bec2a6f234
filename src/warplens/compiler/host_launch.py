"""Host launches: block, grid and arguments of the `<<<>>>` calls in a .cu file.

The code is not run: what follows from constants is known, what is read, measured or passed to a function is not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

from warplens.compiler.c_types import bytes_of
from warplens.compiler.host_code import blanked, closing
from warplens.errors import UsageError
from warplens.launchspec.expression import Number, evaluate, evaluate_list

LAUNCH = r"\b{}\s*(?:<(?P<instance>[^;{{}}]*?)>)?\s*<<<(?P<how>.*?)>>>\s*\("
DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>\w+)[ \t]+(?P<body>[^\n]+)", re.MULTILINE)
REST = r"(?:[^;{}]|\{[^;{}]*\})*"
DECLARED = re.compile(
    r"\b(?:int|unsigned|size_t|auto|long|float|double|u?int(?:32|64)_t)\s+"
    rf"(?P<names>\w+\s*(?:=|\{{[^;{{}}]*\}}|\([^;{{}}()]*\)\s*[,;]){REST})"
)
FUNCTIONS = (
    re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)\((?P<takes>[^()]*)\)[ \t]+(?P<body>[^\n]+)", re.MULTILINE),
    re.compile(r"\b(?P<name>\w+)\s*\((?P<takes>[^(){};]*)\)\s*\{\s*return\b(?P<body>[^;{}]+);\s*\}"),
)
SET = re.compile(r"(?P<name>\w+)\s*(?:=\s*(?P<is>.+)|[({](?P<in>.+)[)}])", re.DOTALL)
SEPARATOR = re.compile(r"(?<=\d)'(?=\d)")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
COMMENT = re.compile(r"//.*|/\*.*?\*/")
DIM3 = re.compile(r"\bdim3\s+(?P<names>\w+\s*[({=][^;]*);")
DIM3_NAME = re.compile(r"\s*(\w+)\s*(?:=\s*(?:dim3\b)?)?(.*)", re.DOTALL)
BRACKETS = re.compile(r"(?:dim3)?\s*[({](.*)[)}]", re.DOTALL)
GIVEN = re.compile(r"\bcudaMalloc(?:Managed|Async)?\s*(?:<[^<>]*>\s*)?(?=\()")
VECTORS = re.compile(r"\bdevice_vector\s*<\s*(?P<type>\w+(?:\s+\w+)*)\s*>\s+(?P<names>[^;{}]+);")
VECTOR = re.compile(r"(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
CAST = re.compile(
    r"\(\s*(?:unsigned|size_t|int|long|float|double|u?int\d+_t)(?:\s+(?:int|long))*\s*\)|\bstatic_cast\s*<[^<>]*>"
)
SIZEOF = re.compile(r"\bsizeof\s*\(\s*(?P<type>\w+(?:\s+\w+)*)\s*\)")
MOST_THREADS = 1024
UNKNOWN_SHARED = 4096  # bytes, where some are asked for


@dataclass(frozen=True, slots=True)
class HostLaunch:
    """A `<<<...>>>` of the host's: bytes as a number or ""; a grid of () and a number of None are not known.

    values   of the arguments;  given: bytes of memory of each
    """

    block: tuple[int, ...]
    shared: str = ""
    grid: tuple[int, ...] = ()
    values: tuple[Number | None, ...] = ()
    given: tuple[Number | None, ...] = ()


def launched(name: str, source: str) -> HostLaunch | None:
    """The first `name<<<...>>>(...)` whose block can be read."""
    source = SEPARATOR.sub("", source)
    plain = expanded(source)
    found = re.search(LAUNCH.format(re.escape(name)), plain, re.DOTALL)
    if not found:
        return None
    numbers = constants(source, plain)
    named = [DIM3_NAME.match(one) for many in DIM3.findall(plain) for one in commas(many.strip())]
    dims = {one[1]: one[2] for one in named if one}  # in the brackets that they had

    def whole(text: str) -> tuple[int, ...]:
        """Of a size or a dim3; () if it is not known."""
        text = dims.get(text, text).strip()
        inside = BRACKETS.fullmatch(text)
        text = inside[1] if inside and (text[0] == "{" or len(commas(inside[1])) > 1 or "dim3" in text) else text
        try:
            sizes = evaluate_list(_plain(text), numbers)
        except UsageError:
            return ()
        return tuple(int(size) for size in sizes if isinstance(size, int) and size > 0) if len(sizes) <= 3 else ()

    parts = [part.strip() for part in commas(found["how"])]
    block = whole(parts[1]) if len(parts) > 1 else ()
    if not block or max(block) > MOST_THREADS:
        return None
    opening = found.end() - 1
    words = [word.strip() for word in commas(plain[opening + 1 : closing(plain, opening)])]
    memory = allocations(plain, numbers)
    return HostLaunch(
        block, _shared(parts[2] if len(parts) > 2 else "0", numbers), whole(parts[0]),
        tuple(number(word, numbers) for word in words), tuple(_memory(word, memory) for word in words),
    )  # fmt: skip


def instance_of_launch(name: str, source: str) -> str:
    """ "sum<float, 256>", of the first `sum<T, N><<<...>>>(...)`; "" if there is none."""
    plain = expanded(source)
    found = re.search(LAUNCH.format(re.escape(name)), plain, re.DOTALL)
    if not found or found["instance"] is None:
        return ""
    numbers = constants(source, plain)
    words = [word.strip() for word in commas(found["instance"])]
    values = [number(word, numbers) for word in words]
    texts = (word if value is None else str(value) for word, value in zip(words, values, strict=True))
    return f"{name}<{', '.join(texts)}>"


def expanded(source: str) -> str:
    """The source without comments and directives; macros and functions of one line are replaced by their values."""
    plain = blanked(source)
    for pattern, text in zip(FUNCTIONS, (source, plain), strict=True):
        for each in pattern.finditer(text):
            takes = [word.split()[-1].strip("&*") for word in each["takes"].split(",") if word.strip()]
            plain = _called(plain, each["name"], takes, COMMENT.sub("", each["body"])) if takes else plain
    return plain


def _called(plain: str, name: str, takes: Sequence[str], body: str) -> str:
    """With `body` for every call, but not in what it comes to."""
    call, at = re.compile(rf"(?<![\w.]){name}\s*(?=\()"), 0
    while found := call.search(plain, at):
        end = closing(plain, found.end())
        given = commas(plain[found.end() + 1 : end])
        at = found.end()
        if len(given) == len(takes) and not plain[end + 1 :].lstrip().startswith("{"):
            made = re.sub(WORD, partial(_inside, dict(zip(takes, given, strict=True))), body)
            plain, at = f"{plain[: found.start()]}({made}){plain[end + 1 :]}", found.start() + len(made)
    return plain


def _inside(given: Mapping[str, str], word: re.Match[str]) -> str:
    return f"({given[word[0]].strip()})" if word[0] in given else word[0]


def constants(source: str, plain: str) -> dict[str, Number]:
    """Names that the file gives a number, the first one where it does so twice;  plain: as expanded() has it."""
    found: dict[str, Number] = {}
    definitions = [(each.start(), each["macro"], COMMENT.sub("", each["body"])) for each in DEFINED.finditer(source)]
    for each in DECLARED.finditer(plain):
        pairs = (SET.fullmatch(one.strip()) for one in commas(each["names"]))
        definitions += [(each.start(), pair["name"], pair["is"] or pair["in"]) for pair in pairs if pair]
    for _, name, text in sorted(definitions, key=itemgetter(0)):
        value = number(text, found)
        if value is not None:
            found.setdefault(name, value)
    return found


def allocations(plain: str, numbers: Mapping[str, Number]) -> dict[str, Number]:
    """Bytes that cudaMalloc() gives each pointer, and that thrust's vectors have, in a source without comments."""
    found: dict[str, Number] = {}
    for each in GIVEN.finditer(plain):
        words = commas(plain[each.end() + 1 : closing(plain, each.end())])
        name = re.search(r"&\s*(\w+)\s*\)*$", words[0])
        amount = number(words[1], numbers) if name and len(words) > 1 else None
        if name and isinstance(amount, int) and amount > 0:
            found.setdefault(name[1], amount)
    for each in VECTORS.finditer(plain):
        for name, given in VECTOR.findall(each["names"]):
            elements = number(commas(given)[0], numbers)
            size = bytes_of(each["type"])
            if isinstance(elements, int) and elements > 0 and size:
                found.setdefault(name, elements * size)
    return found


def _memory(text: str, memory: Mapping[str, Number]) -> Number | None:
    """The pointer that an argument names, be it cast or a vector's."""
    return next((memory[word] for word in WORD.findall(text) if word in memory), None)


def number(text: str, numbers: Mapping[str, Number]) -> Number | None:
    """Of an expression of C++; None where it is not known."""
    try:
        return evaluate(_plain(text), numbers)
    except UsageError:
        return None


def commas(text: str) -> list[str]:
    """Split at the commas outside of all brackets."""
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] in "({[":
            at = closing(text, at)
        elif text[at] == ",":
            parts.append(text[start:at])
            start = at + 1
        at += 1
    return [*parts, text[start:]]


def _plain(text: str) -> str:
    """As expressions are written here: no casts, no suffixes, sizes of types in numbers, whole quotients."""
    text = CAST.sub("", SIZEOF.sub(lambda found: str(bytes_of(found["type"]) or found[0]), text.strip()))
    text = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)
    return text if re.search(r"\d\.|\.\d", text) else text.replace("/", "//")


def _shared(text: str, numbers: Mapping[str, Number]) -> str:
    amount = number(text, numbers)
    return str(UNKNOWN_SHARED if amount is None else amount) if amount != 0 else ""
