"""Reference check: compares a rung's results with those of truth.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.errors import UsageError
from warplens.labs.python_file import function, keywords, load, positional
from warplens.launchspec.expression import Names
from warplens.launchspec.lab_toml import RungEntry
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import Pitched

FILE = "truth.py"
SHOWN = 3  # elements
PART = 1 << 22  # elements compared at once


class ReferenceCheck:
    """Reference check of one launch: expected results from the arguments before it, compared after it."""

    def __init__(self, folder: Path, entry: RungEntry, before: Sequence[Any], names: Names) -> None:
        """UsageError if truth.py is missing or does not fit the kernel's arguments."""
        self.module = load(folder / FILE)
        self.entry, self.names = entry, names
        truth = function(self.module, entry.truth)
        if truth is None:
            raise UsageError(f"{folder / FILE} has no function {entry.truth}()")
        self.parameters = positional(truth)
        if len(self.parameters) != len(before):
            raise UsageError(
                f"{folder / FILE}: {entry.truth}() takes {len(self.parameters)} arguments, and {entry.title} "
                f"has {len(before)}"
            )
        self.expected: Mapping[str, Any] = truth(*map(seen, before), **keywords(truth, names))

    def differences(self, after: Sequence[Any]) -> tuple[str, ...]:
        """For each differing result, its first differing elements as text."""
        result = function(self.module, self.entry.result)
        found: Mapping[str, Any] = dict(zip(self.parameters, map(seen, after), strict=True))
        if result is not None:
            found = result(*map(seen, after), **keywords(result, self.names))
        tolerance = float(getattr(self.module, "TOLERANCE", 0))
        told = [difference(name, self.expected[name], found.get(name), tolerance) for name in self.expected]
        return tuple(text for text in told if text)


def seen(value: Any) -> Any:
    """An argument as passed to truth.py: a pitched array in the host's shape."""
    value = value.array if isinstance(value, MappedArray) else value
    return value.array if isinstance(value, Pitched) else value


def difference(name: str, expected: Any, found: Any, tolerance: float = 0) -> str:
    """ "out[5]: expected 1.5, found 2.0; 12 elements differ"; "" where all are equal.

    tolerance   of |difference|, as a part of |expected| + the mean |expected| of all; 0: equal in every bit,
                as integers always are
    """
    if found is None:
        return f"{name}: result() does not give it"
    wanted, got = np.asarray(expected), np.asarray(found)
    if wanted.size != got.size:
        return f"{name}: expected {wanted.size} elements, found {got.size}"
    wrong = _wrong(wanted.reshape(-1), got.reshape(-1), tolerance)
    if not wrong.size:
        return ""
    told = [_element(name, wanted, got, int(at)) for at in wrong[:SHOWN]]
    count = "1 element differs" if wrong.size == 1 else f"{wrong.size:,} of {wanted.size:,} elements differ"
    return f"{'; '.join(told)}; {count}"


def _wrong(wanted: NDArray[Any], got: NDArray[Any], tolerance: float) -> NDArray[np.intp]:
    """Indices of differences; compared in chunks, so that arrays of a GiB need no copies of their size."""
    parts = [slice(start, start + PART) for start in range(0, wanted.size, PART)]
    total = sum(float(np.nansum(np.abs(wanted[part].astype(np.float64)))) for part in parts) if tolerance else 0.0
    slack = tolerance * total / max(wanted.size, 1)
    found = [part.start + np.flatnonzero(_differ(wanted[part], got[part], tolerance, slack)) for part in parts]
    return np.concatenate([np.empty(0, np.intp), *found])


def _differ(wanted: NDArray[Any], got: NDArray[Any], tolerance: float, slack: float) -> NDArray[np.bool_]:
    both_nan = (wanted != wanted) & (got != got)
    unequal = (wanted != got) & ~both_nan
    if tolerance and unequal.any():
        exact = wanted.astype(np.float64)
        unequal &= ~(np.abs(got - exact) <= tolerance * np.abs(exact) + slack)
    return np.asarray(unequal)


def _element(name: str, wanted: NDArray[Any], got: NDArray[Any], at: int) -> str:
    place = ", ".join(str(int(i)) for i in np.unravel_index(at, wanted.shape)) if wanted.ndim else ""
    where = f"{name}[{place}]" if place else name
    return f"{where}: expected {wanted.reshape(-1)[at]}, found {got.reshape(-1)[at]}"
