"""Warp-wide operations: their CUDA text (prelude.cu) and their meaning over arrays of [warps, 32].

`on` are the lanes that take part.  A lane that would read one that does not keeps its own value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
LANE = np.arange(32)
BIT = np.uint64(1) << LANE.astype(np.uint64)


@dataclass(frozen=True)
class Collective:
    """types: of the value exchanged, which is `type` in args and result."""

    args: tuple[str, ...]
    result: str
    types: tuple[str, ...]
    text: str
    meaning: Callable[..., Array]


def taken(on: Array, value: Array, source: Array, inside: Any) -> Array:
    """value[source], the lane's own where that is out of its segment or does not take part."""
    rows = np.arange(on.shape[0])[:, None]
    source = np.where(inside, source, LANE)
    return np.where(on[rows, source], value[rows, source], value)


def shuffle(on: Array, value: Array, lane: Array) -> Array:
    return taken(on, value, lane.astype(np.int64) & 31, True)


def shuffle_by(step: Callable[[Array, Array], Array], width: int) -> Callable[[Array, Array, Array], Array]:
    def meaning(on: Array, value: Array, by: Array) -> Array:
        source = step(np.broadcast_to(LANE, on.shape), by.astype(np.int64) & 31)
        return taken(on, value, source & 31, source // width == LANE // width)

    return meaning


def mask_of(on: Array) -> Array:
    return (on * BIT).sum(1).astype(np.uint32)


def ballot(on: Array, condition: Array) -> Array:
    return np.broadcast_to(mask_of(on & condition)[:, None], on.shape)


def any_of(on: Array, condition: Array) -> Array:
    return np.broadcast_to((on & condition).any(1)[:, None], on.shape).astype(np.uint32)


def all_of(on: Array, condition: Array) -> Array:
    return np.broadcast_to((~on | condition).all(1)[:, None], on.shape).astype(np.uint32)


def match_any(on: Array, value: Array) -> Array:
    same = (value[:, :, None] == value[:, None, :]) & on[:, None, :]
    return (same * BIT).sum(2).astype(np.uint32)


def match_all(on: Array, value: Array) -> Array:
    first = value[np.arange(len(on)), on.argmax(1)]
    equal = (~on | (value == first[:, None])).all(1)
    return np.broadcast_to(np.where(equal, mask_of(on), 0)[:, None], on.shape).astype(np.uint32)


def reduced(ufunc: Any, neutral: int | None) -> Callable[[Array, Array], Array]:
    """neutral: what a lane that does not take part gives; None: the first value that is there."""

    def meaning(on: Array, value: Array) -> Array:
        rest = value[np.arange(len(on)), on.argmax(1)][:, None] if neutral is None else value.dtype.type(neutral)
        total = ufunc.reduce(np.where(on, value, rest), axis=1, dtype=value.dtype)
        return np.broadcast_to(total[:, None], on.shape)

    return meaning


NUMBERS = ("u32", "i32", "u64", "f32", "f64")
COLLECTIVES = {
    "shuffle": Collective(("type", "u32"), "type", NUMBERS, "shuffle", shuffle),
    "ballot": Collective(("bool",), "u32", ("u32",), "ballot", ballot),
    "any": Collective(("bool",), "u32", ("u32",), "any_of", any_of),
    "all": Collective(("bool",), "u32", ("u32",), "all_of", all_of),
    "match_any": Collective(("type",), "u32", ("u32", "u64"), "match_any", match_any),
    "match_all": Collective(("type",), "u32", ("u32", "u64"), "match_all", match_all),
    "through_shared": Collective(("u32", "u32"), "u32", ("u32",), "through_shared", shuffle),
    **{
        f"shuffle_{name}{width}": Collective(
            ("type", "u32"), "type", NUMBERS, f"shuffle_{name}<{width}>", shuffle_by(step, width)
        )
        for name, step in (("up", np.subtract), ("down", np.add), ("xor", np.bitwise_xor))
        for width in (32, 8)
    },
    **{
        f"reduce_{name}": Collective(("u32",), "u32", ("u32",), f"reduce_{name}", reduced(ufunc, neutral))
        for name, ufunc, neutral in (
            ("add", np.add, 0), ("min", np.minimum, None), ("max", np.maximum, None),
            ("and", np.bitwise_and, None), ("or", np.bitwise_or, 0), ("xor", np.bitwise_xor, 0),
        )
    },
}  # fmt: skip
