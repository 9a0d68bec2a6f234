"""Uniformity lattice: uniform < affine < varying, for one register at one program point.

The storage of a lane's value depends on the uniformity at the lane's own program point.  So lanes that diverge may have
the same register in different forms, and lanes that move to a point with another form convert their value.  A form that
all lanes share can only change while all of them move together.
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
    """uniform  the same number in all lanes, `known` if it follows from the code
    affine   base and steps, `steps` where they follow from the code (affine.py)
    low      the low word of a 64-bit affine value; the next register is its
    high     word
    varying  32 numbers
    """

    kind: Literal["uniform", "affine", "low", "high", "varying"]
    known: int | None = None
    steps: Steps = (0, 0)


ZERO, UNIFORM, VARYING = Uniformity("uniform", 0), Uniformity("uniform"), Uniformity("varying")
State = Mapping[Name, Uniformity]
UNIFORM_FILES = ("UR", "UP")


def uniformity_at(state: State, name: Name) -> Uniformity:
    """Registers are zero before they are written."""
    return UNIFORM if name[0] in UNIFORM_FILES else state.get(name, ZERO)


def join(edges: Iterable[tuple[State, bool]]) -> dict[Name, Uniformity]:
    """The join of incoming edges, each with its state and whether the whole warp takes it at once."""
    edges_in = list(edges)
    first, *others = [state.get for state, _ in edges_in]
    names = sorted(set().union(*(state for state, _ in edges_in)))
    result = {}
    for name in names:
        if name[0] in UNIFORM_FILES:
            result[name] = UNIFORM
            continue
        shape = first(name, ZERO)
        for at in others:
            other = at(name, ZERO)
            if other is not shape:
                shape = _join_two(shape, other)
        result[name] = shape
    partial = [state for state, whole in edges_in if not whole]
    left = [name for name in names if result[name].kind != "varying" and name[0] not in UNIFORM_FILES]
    changed = True
    while changed:
        changed = False
        for name in left:
            shape = _checked_pair(result, name)
            if shape.kind != "varying" and any(state.get(name, ZERO) != shape for state in partial):
                shape = VARYING
            if shape is not result[name] and shape != result[name]:
                result[name], changed = shape, True
    return result


def _join_two(a: Uniformity, b: Uniformity) -> Uniformity:
    """The least upper bound of two."""
    if a == b:
        return a
    kinds = {a.kind, b.kind}
    if kinds == {"uniform"}:
        return UNIFORM
    if "varying" in kinds or ("high" in kinds and not kinds <= {"uniform", "high"}):
        return VARYING
    if kinds == {"low", "affine"}:
        a, b = as_affine(a), as_affine(b)
    kind = next(k for k in ("low", "high", "affine") if k in {a.kind, b.kind})
    x, y = (m if m == n else None for m, n in zip(a.steps, b.steps, strict=True))
    return Uniformity(kind, None, (x, y))


def as_affine(shape: Uniformity) -> Uniformity:
    """The low word by itself."""
    if shape.kind != "low":
        return shape
    x, y = (s if s is None else signed(s, 32) for s in shape.steps)
    return replace(shape, kind="affine", steps=(x, y))


def _checked_pair(state: Mapping[Name, Uniformity], name: Name) -> Uniformity:
    """A low word without its high word is affine, a high word alone is varying."""
    shape = state[name]
    file, index = name
    if shape.kind == "low":
        other = state.get((file, index + 1))
        return shape if other is not None and other.kind == "high" and other.steps == shape.steps else as_affine(shape)
    if shape.kind == "high":
        other = state.get((file, index - 1))
        return shape if other is not None and other.kind == "low" and other.steps == shape.steps else VARYING
    return shape
