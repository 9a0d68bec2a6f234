"""Triton arguments: what Triton's launcher makes of a kernel's arguments, for launch()."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from warplens.core.tensor_map import Im2col, Swizzle, TensorMap, TensorType
from warplens.frontend.host_tensor import HostTensor, device_view
from warplens.launchspec.array_view import ArrayView
from warplens.launchspec.element_type import ElementType
from warplens.launchspec.mapped_array import MappedArray

CONSTEXPR = "constexpr"
FLOATS = {"fp16": "f16", "bf16": "bf16", "fp32": "f32", "f32": "f32", "fp64": "f64"}
PROMOTION = 2  # Triton's launcher asks for CU_TENSOR_MAP_L2_PROMOTION_L2_128B


def wrapped(value: Any) -> Any:
    """An argument as Triton takes it: arrays as tensors, NumPy's numbers as Python's."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return HostTensor(value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(wrapped, value))
    if hasattr(value, "block_shape") and isinstance(getattr(value, "base", None), np.ndarray):
        value.base = HostTensor(value.base)
    return value


def tiled_map(
    address: int, swizzle: int, size: int, kind: int, box: Sequence[int], shape: Sequence[int],
    strides: Sequence[int], padding: int,
) -> Any:  # fmt: skip
    """Triton's `fill_tma_descriptor_tiled`: a function of the descriptor's tensor.  Outermost dimension first."""
    steps = (1,) * len(shape)
    layout = TensorMap(
        0, TensorType(kind), tuple(shape)[::-1], tuple(size * step for step in strides[-2::-1]), tuple(box)[::-1],
        steps, swizzle=Swizzle(swizzle), fill_nan=bool(padding), promotion=PROMOTION,
    )  # fmt: skip
    return partial(_mapped, layout)


def im2col_map(
    address: int, swizzle: int, size: int, kind: int, box: Sequence[int], shape: Sequence[int],
    strides: Sequence[int], padding: int, *corners: Sequence[int],
) -> Any:  # fmt: skip
    """Triton's `fill_tma_descriptor_im2col`, whose box is the pixels of a column and the channels of a pixel.

    corners   lower and upper ones of the pixels' bounding box, and element strides
    """
    lower, upper, steps = corners
    column = Im2col(tuple(lower)[::-1], tuple(upper)[::-1], box[1], box[0])
    layout = TensorMap(
        0, TensorType(kind), tuple(shape)[::-1], tuple(size * step for step in strides[-2::-1]), (),
        tuple(steps)[::-1], swizzle=Swizzle(swizzle), fill_nan=bool(padding), promotion=PROMOTION, im2col=column,
    )  # fmt: skip
    return partial(_mapped, layout)


def _mapped(layout: TensorMap, tensor: Any) -> MappedArray:
    layout.check()
    view = device_view(tensor)
    if isinstance(view, ArrayView):
        return MappedArray(view.storage, replace(layout, address=view.offset))
    return MappedArray(view, layout)


@dataclass(frozen=True)
class PassedValue:
    """Passed value: one argument of the kernel in the cubin, with the name of Triton's parameter."""

    name: str
    type: str
    value: Any


def flattened(signature: Sequence[tuple[str, Any]], values: Sequence[Any], maps: Sequence[Any]) -> list[PassedValue]:
    """The kernel's arguments in order: tuples opened, constants left out, descriptors with their sizes and strides.

    maps   Triton's metadata of each tensor map; empty where descriptors are passed as pointers
    """
    left = iter(maps)
    return [
        passed
        for (name, kind), value in zip(signature, values, strict=True)
        for passed in _open(name, kind, value, left)
    ]


def _open(name: str, kind: Any, value: Any, maps: Iterator[Any]) -> Iterator[PassedValue]:
    if isinstance(kind, tuple):
        for place, (inner, part) in enumerate(zip(kind, value, strict=True)):
            yield from _open(f"{name}.{place}", inner, part, maps)
    elif kind.startswith("tensordesc"):
        yield from _descriptor(name, kind, value, next(maps, None))
    elif kind != CONSTEXPR:
        yield PassedValue(name, kind, value)


def _descriptor(name: str, kind: str, value: Any, meta: Any) -> Iterator[PassedValue]:
    """A tensor descriptor: a tensor map, or the tensor with what is known of it; and sizes and strides."""
    from triton.backends.nvidia.driver import make_tensordesc_arg

    first, *numbers = make_tensordesc_arg(value, meta, None)
    rank = len(value.shape)
    if meta is not None:
        yield PassedValue(name, "nvTmaDesc", first(value.base))
        types = ["i32"] * rank + ["i64"] * rank
    else:
        yield PassedValue(name, "*", first)
        types = ["i64"] * (2 * rank) + ["i1"] * (len(numbers) - 4 * rank) + ["i32"] * rank + ["i64"] * rank
    for type, number in zip(types, numbers, strict=True):
        yield PassedValue("", type, number)


def converted(passed: PassedValue, size: int) -> Any:
    """The value as launch() takes it, for a parameter of `size` bytes.  UsageError."""
    value, kind = passed.value, passed.type
    if value is None or isinstance(value, MappedArray):
        return value
    if kind.startswith("*"):
        return np.uint64(value) if isinstance(value, int) else device_view(value)
    if kind in FLOATS:
        return ElementType(FLOATS[kind]).encoded(np.array([float(value)])).tobytes()
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")
