"""Outputs: whether a changed kernel leaves the same in memory as the original.

Integers and everything that a change keeps exactly are compared bit by bit.  Where a change rounds floats differently
or adds them in another order, they may differ by TOLERANCE of |expected| + the mean |expected|: n additions in another
order differ by at most n eps of the sum of magnitudes, and in practice by sqrt(n) eps; 1e-5 is 84 eps of a float.  To
what atomics add n floats, one by one in the order of the GPU, there is room for sqrt(n) eps if that is more.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES = 1 << 22  # compared at a time: of GiB at once the result takes memory that has to be made first
TOLERANCE = {2: 1e-2, 4: 1e-5, 8: 1e-12}  # by bytes of a float


@dataclass(frozen=True)
class OutputComparison:
    """exact   whether all bytes are equal;  differs: the arrays that differ too much, with the first such element"""

    exact: bool
    differs: Mapping[str, str]

    @property
    def equal(self) -> bool:
        return not self.differs


def compare_outputs(
    names: Sequence[str], expected: Sequence[Any], found: Sequence[Any], tolerant: bool, scratch: Sequence[str] = (),
    totals: Sequence[str] = (), additions: Mapping[str, int] = MappingProxyType({}),
) -> OutputComparison:  # fmt: skip
    """Arrays after two launches; arguments that are no arrays are left out.

    tolerant   whether floats may differ by TOLERANCE;  scratch: arrays whose content afterwards does not matter
    totals     arrays of which only the sum of all elements matters
    additions  of floats by atomics to one element, by array
    """
    exact, differs = True, {}
    for name, before, after in zip(names, expected, found, strict=True):
        if not isinstance(before, np.ndarray) or name in scratch or before is after:
            continue
        if _same(_bytes(before), _bytes(after)):
            continue
        if name in totals:
            before, after = _total(before), _total(after)
        exact = False
        where = _differing(before.reshape(-1), after.reshape(-1), tolerant, additions.get(name, 0))
        if where.size:
            at = int(where[0])
            of = f"{where.size:,} of {before.size:,} elements differ"
            differs[name] = f"{name}[{at}] is {after.reshape(-1)[at]} instead of {before.reshape(-1)[at]}; {of}"
    return OutputComparison(exact, differs)


def _same(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> bool:
    chunks = (slice(start, start + CHUNK_BYTES) for start in range(0, max(before.size, after.size), CHUNK_BYTES))
    return before.size == after.size and all(np.array_equal(before[chunk], after[chunk]) for chunk in chunks)


def _differing(before: NDArray[Any], after: NDArray[Any], tolerant: bool, additions: int) -> NDArray[np.intp]:
    if not tolerant or before.dtype.kind != "f":
        left, right = (_bytes(of).reshape(before.size, -1) for of in (before, after))
        return np.flatnonzero((left != right).any(axis=1))
    wide, other = before.astype(np.float64), after.astype(np.float64)
    finite = np.abs(wide[np.isfinite(wide)])
    share = max(TOLERANCE.get(before.dtype.itemsize, 0.0), math.sqrt(additions) * float(np.finfo(before.dtype).eps))
    room = share * (np.abs(wide) + (finite.mean() if finite.size else 0.0))
    alike = (wide == other) | (np.abs(wide - other) <= room) | (np.isnan(wide) & np.isnan(other))
    return np.flatnonzero(~alike)


def _total(array: NDArray[Any]) -> NDArray[Any]:
    """The sum of all elements: of integers as they wrap around."""
    wide = array.dtype if array.dtype.kind in "iu" else np.float64
    total: NDArray[Any] = np.array([array.sum(dtype=wide)])
    return total.astype(array.dtype)


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
