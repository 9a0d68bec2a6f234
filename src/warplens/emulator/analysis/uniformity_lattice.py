"""What a register holds at one place of the code: one number for all lanes, a line over them, or 32 numbers.

Every lane's value of a register lies where the shape at the lane's place in the code says.  So lanes that part may find
the same register in different forms, and lanes that move on to a place where the shape is another take their value
there.  A form that all lanes share can only change while all of them move together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from warplens.emulator.analysis.affine import signed

Name = tuple[str, int]
Steps = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Uniformity:
    """one    the same number in all lanes, `known` if it follows from the code
    line   base and steps, `steps` where they follow from the code (affine.py)
    low    the low word of a 64-bit line; the next register is its
    high   word
    many   32 numbers
    """

    kind: Literal["one", "line", "low", "high", "many"]
    known: int | None = None
    steps: Steps = (0, 0)


ZERO, ONE, MANY = Uniformity("one", 0), Uniformity("one"), Uniformity("many")
State = Mapping[Name, Uniformity]
UNIFORM = ("UR", "UP")


def shape_at(state: State, name: Name) -> Uniformity:
    """Registers are zero before they are written."""
    return ONE if name[0] in UNIFORM else state.get(name, ZERO)


def joined(edges: Iterable[tuple[State, bool]]) -> dict[Name, Uniformity]:
    """The shapes where ways meet, each with its shapes and whether the whole warp comes that way at once."""
    ways = list(edges)
    first, *others = [state.get for state, _ in ways]
    names = sorted(set().union(*(state for state, _ in ways)))
    result = {}
    for name in names:
        if name[0] in UNIFORM:
            result[name] = ONE
            continue
        shape = first(name, ZERO)
        for at in others:
            other = at(name, ZERO)
            if other is not shape:
                shape = _either(shape, other)
        result[name] = shape
    apart = [state for state, whole in ways if not whole]
    left = [name for name in names if result[name].kind != "many" and name[0] not in UNIFORM]
    changed = True
    while changed:
        changed = False
        for name in left:
            shape = _whole_pair(result, name)
            if shape.kind != "many" and any(state.get(name, ZERO) != shape for state in apart):
                shape = MANY
            if shape is not result[name] and shape != result[name]:
                result[name], changed = shape, True
    return result


def _either(a: Uniformity, b: Uniformity) -> Uniformity:
    """What can hold both."""
    if a == b:
        return a
    kinds = {a.kind, b.kind}
    if kinds == {"one"}:
        return ONE
    if "many" in kinds or ("high" in kinds and not kinds <= {"one", "high"}):
        return MANY
    if kinds == {"low", "line"}:
        a, b = as_line(a), as_line(b)
    kind = next(k for k in ("low", "high", "line") if k in {a.kind, b.kind})
    x, y = (m if m == n else None for m, n in zip(a.steps, b.steps, strict=True))
    return Uniformity(kind, None, (x, y))


def as_line(shape: Uniformity) -> Uniformity:
    """The low word by itself."""
    if shape.kind != "low":
        return shape
    x, y = (s if s is None else signed(s, 32) for s in shape.steps)
    return replace(shape, kind="line", steps=(x, y))


def _whole_pair(state: Mapping[Name, Uniformity], name: Name) -> Uniformity:
    """A low word without its high word is a line, a high word alone is nothing special."""
    shape = state[name]
    file, index = name
    if shape.kind == "low":
        other = state.get((file, index + 1))
        return shape if other is not None and other.kind == "high" and other.steps == shape.steps else as_line(shape)
    if shape.kind == "high":
        other = state.get((file, index - 1))
        return shape if other is not None and other.kind == "low" and other.steps == shape.steps else MANY
    return shape
