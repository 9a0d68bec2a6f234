"""Host code: finds the functions of a .cu file that only the host compiles.

`main`, functions that launch kernels, and members of classes without `__device__` are blanked out, so that every
line of what remains keeps its number.  The source is scanned, not parsed: comments, texts and directives are blanks
to the scanner, and brackets do the rest.  Where it errs the compiler reports it, since what is left out cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from warplens.compiler.signature import NOISE

_RAW = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"', re.DOTALL)
_FOR_DEVICE = re.compile(
    r"\b(__global__|__device__|constexpr|consteval)\b|\b[A-Z0-9_]*(DEVICE|KERNEL|GLOBAL)[A-Z0-9_]*\b"
)
_ACCESS = ("public", "private", "protected")
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:\\\n|[^\n])*)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"\b(__align__|alignas|__attribute__|__declspec|__launch_bounds__|decltype|noexcept)\s*\(")
_TYPE = re.compile(r"\b(class|struct|union|enum)\b")
_INSIDE = re.compile(r"\s*(inline\s+)?(namespace\b[^()]*|extern\s*)")
_WORD = re.compile(r"\w+")
_CALL = re.compile(r"(\w+)\s*\(")
_KERNEL = re.compile(r"\b__global__\b")
_NAME = re.compile(r"(~?\w+|operator\W+?)\s*\(")


@dataclass(slots=True)
class HostCode:
    """A source without the functions that only the host can run.

    text      as long as the original, line for line
    left_out  the names of these functions, in order
    """

    text: str
    left_out: list[str] = field(default_factory=list)


def device_macros(*sources: str) -> frozenset[str]:
    """Macros that mark what is for the device, by themselves or by others of these macros."""
    bodies = {name: body for source in sources for name, body in _MACRO.findall(source)}
    found = {name for name, body in bodies.items() if _FOR_DEVICE.search(body)}
    while more := {name for name, body in bodies.items() if not found.isdisjoint(_WORD.findall(body))} - found:
        found |= more
    return frozenset(found)


def strip_host_code(source: str, macros: frozenset[str] | None = None) -> HostCode:
    """Blanks out every function that no `__global__`, `__device__` or `constexpr` marks, nor one of the macros.

    macros   device_macros() of the files that belong together; those of this one if there are no others
    """
    plain = blanked(source)
    macros = device_macros(source) if macros is None else macros
    writing = {name for name, body in _MACRO.findall(source) if "{" in body}
    found = HostCode(source)
    letters = list(source)
    for part in _functions(plain, 0, len(plain), member=False):
        start = _behind_macros(plain, part, writing)
        head = plain[start : part.body]
        if _FOR_DEVICE.search(head) or macros & set(_WORD.findall(head)):
            continue
        if name := _NAME.search(head):
            found.left_out.append(name[1])
        first = start if not part.member else _end_of_parameters(plain, start, part.body)
        for at in range(first, part.end):
            letters[at] = letters[at] if letters[at] == "\n" else " "
        if part.member:
            letters[first if letters[first] != "\n" else part.body] = ";"
    found.text = "".join(letters)
    return found


def blanked(source: str) -> str:
    """The source with blanks for comments, texts and directives: every place and line stays."""
    return NOISE.sub(_blank, _RAW.sub(_blank, source))


def _blank(noise: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", noise[0])


@dataclass(frozen=True, slots=True)
class _Function:
    """Places in the text: where the declaration begins, its body's `{`, and after the body's `}`."""

    start: int
    body: int
    end: int
    member: bool


def _behind_macros(text: str, part: _Function, writing: set[str]) -> int:
    """Where the declaration itself begins, after macros without a semicolon that write whole definitions."""
    at = part.start
    while (call := _CALL.match(text, at, part.body)) and call[1] in writing:
        at = closing(text, call.end() - 1) + 1
        at += len(text[at : part.body]) - len(text[at : part.body].lstrip())
    return at if at < part.body else part.start


def _functions(text: str, start: int, end: int, member: bool) -> Iterator[_Function]:
    """Definitions between two places, also those in namespaces and classes."""
    head = at = start
    while at < end:
        letter = text[at]
        if letter == "(":
            at = closing(text, at)
        elif letter in ";}" or (letter == ":" and text[head:at].strip() in _ACCESS):
            head = at + 1
        elif letter == "{":
            after = closing(text, at) + 1
            kind = _kind(text[head:at])
            if kind == "function" and _initializes(text, head, at):
                kind = "value"
            if kind == "inside":
                yield from _functions(text, at + 1, after - 1, member=False)
            elif kind == "type":
                yield from _functions(text, at + 1, after - 1, member=True)
            elif kind == "function":
                begin = head + len(text[head:at]) - len(text[head:at].lstrip())
                if kernel := _KERNEL.search(text, at, after):  # brackets of branches of #if are no pairs
                    after = max(text.rfind(letter, at, kernel.start()) for letter in ";{}") + 1
                yield _Function(begin, at, after, member)
            at = after
            if kind in ("inside", "function"):
                head = at
            continue  # after a type or an initializer, up to its semicolon
        at += 1


def _kind(head: str) -> str:
    """What a `{` after this text opens: "inside" of a namespace, a "type", a "function" or a "value"."""
    if _INSIDE.fullmatch(head):
        return "inside"
    bare = head
    while attribute := _ATTRIBUTE.search(bare):
        bare = bare[: attribute.start()] + bare[closing(bare, attribute.end() - 1) + 1 :]
    bare = re.sub(r"^\s*template\s*", "", bare)
    while bare.lstrip().startswith("<"):
        bare = _behind_angles(bare.lstrip())
    if "(" not in bare or _is_type(bare[: bare.index("(")]):
        return "type" if _TYPE.search(bare) else "value"
    if "operator" in bare:
        return "function"
    return "value" if "=" in bare[: bare.index("(")] or bare.rstrip().endswith("=") else "function"


def _is_type(before: str) -> bool:
    """Whether brackets after this are of a macro (`struct ALIGN(16) A`), of a base (`struct A : B<sizeof(int)>`) or of
    what a template is specialised for (`struct A<sizeof(int)>`), not of a function that gives one (`struct A make()`).
    """
    if not _TYPE.match(before.lstrip()):
        return False
    base = re.search(r"(?<!:):(?!:)", before)
    return base is not None or before.count("<") > before.count(">") or len(_WORD.findall(before)) <= 2


def _initializes(text: str, head: int, at: int) -> bool:
    """Whether the `{` gives a member its value in a constructor's list: `S(int x) : a{x}, b(x) {}`."""
    after = text[_end_of_parameters(text, head, at) : at]
    return re.match(r":(?!:)", after) is not None and re.search(r"[\w>]\s*$", after) is not None


def _behind_angles(text: str) -> str:
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if depth == 0:
            return text[at + 1 :]
    return ""


def _end_of_parameters(text: str, start: int, body: int) -> int:
    """After the first brackets and what may follow before a constructor's list: const, override, -> type."""
    found = _NAME.search(text, start, body)
    at = closing(text, found.end() - 1) + 1 if found else body
    following = re.compile(r"[^:{]*").match(text, at, body)
    return following.end() if following else at


def closing(text: str, opening: int) -> int:
    """The place of the bracket that closes the one at `opening`; the text's end if there is none."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    first, last, depth = text[opening], pairs[text[opening]], 0
    for match in re.compile(f"[{re.escape(first + last)}]").finditer(text, opening):
        depth += 1 if match[0] == first else -1
        if depth == 0:
            return match.start()
    return len(text) - 1
