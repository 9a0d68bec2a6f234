"""Array initializers: one function a kind, named after it.

A kind's function takes the array's description and the kind's own parameters ("random(0, 1000)"), validates them at
once, and returns a function that makes the flat values; so nothing large is made before all else is validated.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from warplens.errors import UsageError
from warplens.launchspec.element_type import ElementType
from warplens.launchspec.expression import Number

Maker: TypeAlias = Callable[[], NDArray[Any]]
Stream: TypeAlias = Callable[[], np.random.Generator]
Kind: TypeAlias = Callable[..., Maker]
KINDS: dict[str, Kind] = {}
_DEFAULT_SEED = 0


@dataclass(frozen=True, slots=True)
class InitialArray:
    """Initial array: `shape` counts elements; `position` is its index among the kernel's arguments."""

    element: ElementType
    shape: tuple[int, ...]
    position: int = 0

    @property
    def values(self) -> int:
        """Number of values: every lane of every element."""
        return math.prod(self.shape) * self.element.lanes

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.element.bytes

    @property
    def numpy_shape(self) -> tuple[int, ...]:
        """NumPy shape: vector types have their lanes as last axis: f32x4[n] is (n, 4)."""
        return self.shape if self.element.lanes == 1 else (*self.shape, self.element.lanes)

    def stream(self, seed: Number | None) -> Stream:
        """Random stream, reproducible; without `seed=` every position has its own."""
        if seed is None:
            return lambda: np.random.Generator(np.random.PCG64((_DEFAULT_SEED, self.position)))
        if seed < 0 or int(seed) != seed:
            raise UsageError(f"seed={seed}: a seed is a whole number from 0")
        return lambda: np.random.Generator(np.random.PCG64(int(seed)))


def plan(kind: str, array: InitialArray, values: tuple[Number, ...], keywords: dict[str, Number]) -> Maker:
    """The maker of `array` for `kind`.  UsageError for impossible parameters."""
    function = KINDS[kind]
    signature = inspect.signature(function)
    try:
        bound = signature.bind(array, *values, **keywords)
    except TypeError:
        known = list(signature.parameters)[1:]
        possible = f"its parameters are ({', '.join(known)})" if known else "it takes none"
        raise UsageError(f"wrong parameters for {kind}: {possible}") from None
    maker: Maker = function(*bound.args, **bound.kwargs)
    return maker


def kind(function: Kind) -> Kind:
    KINDS[function.__name__] = function
    return function


@kind
def random(
    array: InitialArray, low: Number | None = None, high: Number | None = None, seed: Number | None = None
) -> Maker:
    """Uniform over low <= x < high.  Floats: [-0.5, 0.5).  Integers: [0, 1000), or the part that the type can hold."""
    if (low is None) != (high is None):
        raise UsageError("random takes both ends of its range or none: random(0, 1000)")
    stream = array.stream(seed)
    if array.element.whole:
        return _random_whole(array, stream, low, high)
    return _random_float(array, stream, -0.5 if low is None else low, 0.5 if high is None else high)


@kind
def zeros(array: InitialArray) -> Maker:
    return lambda: np.zeros(array.values, array.element.dtype)


@kind
def ones(array: InitialArray) -> Maker:
    return full(array, 1)


@kind
def full(array: InitialArray, value: Number) -> Maker:
    """`value` everywhere."""
    array.element.check(value)
    one = array.element.encoded(np.array([value], _work_type(array.element)))
    return lambda: np.full(array.values, one[0], array.element.dtype)


@kind
def arange(array: InitialArray, start: Number = 0, step: Number = 1) -> Maker:
    """start, start + step, start + 2 step ..."""
    for end in (start, step, start + max(array.values - 1, 0) * step):
        array.element.check(end)
    work = _work_type(array.element)

    def make() -> NDArray[Any]:
        return array.element.encoded(np.arange(array.values, dtype=work) * work.type(step) + work.type(start))

    return make


@kind
def permutation(array: InitialArray, seed: Number | None = None) -> Maker:
    """Each of 0 ... size - 1 once, in random order: indices for gathers and scatters."""
    if not array.element.whole:
        raise UsageError(f"a permutation is of whole numbers, not of {array.element.name}; use i32 or another")
    array.element.check(max(array.values - 1, 0))
    stream = array.stream(seed)

    def make() -> NDArray[Any]:
        numbers = np.arange(array.values, dtype=array.element.dtype)
        stream().shuffle(numbers)
        return numbers

    return make


@kind
def empty(array: InitialArray) -> Maker:
    """Uninitialised: every byte 0xFF, NaN in floats and -1 in signed integers."""
    return lambda: np.full(array.bytes, 0xFF, np.uint8).view(array.element.dtype)


def _random_whole(array: InitialArray, stream: Stream, low: Number | None, high: Number | None) -> Maker:
    dtype = array.element.dtype
    first = 0 if low is None else low
    last = min(999, int(np.iinfo(dtype).max)) if high is None else high - 1
    if last < first:
        raise UsageError(f"random over an empty range, {low} up to but without {high}")
    array.element.check(first)
    array.element.check(last)
    return lambda: stream().integers(int(first), int(last), array.values, dtype, endpoint=True)


def _random_float(array: InitialArray, stream: Stream, low: Number, high: Number) -> Maker:
    if not low < high:
        raise UsageError(f"random over an empty range, {low} up to but without {high}")
    array.element.check(low)
    array.element.check(high)
    array.element.check(high - low)
    work = np.float64 if array.element.scalar == "f64" else np.float32

    def make() -> NDArray[Any]:
        drawn = stream().random(array.values, dtype=work)
        drawn *= work(high - low)
        drawn += work(low)
        near = array.element.rounded(drawn)
        near[near >= high] = low  # rounding may reach the excluded end of the range
        return array.element.encoded(near)

    return make


def _work_type(element: ElementType) -> np.dtype[Any]:
    """Type of generation: whole numbers in their own type, floats in double precision, then rounded."""
    return element.dtype if element.whole else np.dtype(np.float64)
