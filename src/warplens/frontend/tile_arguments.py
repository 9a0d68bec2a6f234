"""cuda.tile arguments: the signature for which cuda.tile compiles a kernel, and what launch() passes to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.errors import UsageError
from warplens.frontend.host_tensor import device_view
from warplens.launchspec.array_view import ArrayView

DIVISOR = 16  # bytes of addresses and strides, elements of sizes, that a kernel is specialised for
OTHER_NAMES = {"bool": "bool_"}


@dataclass(frozen=True)
class TileArray:
    """Tile array: one of NumPy or torch as cuda.tile sees it; `strides` count elements, `offset` bytes."""

    view: ArrayView | NDArray[Any]
    type: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item_bytes: int

    @property
    def offset(self) -> int:
        return self.view.offset if isinstance(self.view, ArrayView) else 0

    @property
    def storage(self) -> NDArray[Any]:
        return self.view.storage if isinstance(self.view, ArrayView) else self.view

    @property
    def overlaps(self) -> bool:
        """Whether two of its elements may be one place in memory."""
        span = 1
        for stride, size in sorted(zip(self.strides, self.shape, strict=True)):
            if size != 1 and stride < span:
                return True
            span += stride * (size - 1)
        return False

    def constraint(self, annotation: Any) -> Any:
        """cuda.tile's ArrayConstraint, as its own launcher derives it; `annotation`: ArrayAnnotation or None."""
        import cuda.tile as ct
        from cuda.tile.compilation import ArrayConstraint

        def axes(name: str) -> set[int]:
            return {axis % len(self.shape) for axis in getattr(annotation, name, ())}

        fixed, fixed_strides = axes("static_shape_dims"), axes("static_stride_dims")
        constant = [
            step if (axis in fixed_strides if fixed_strides else step == 1) else None
            for axis, step in enumerate(self.strides)
        ]
        whole = [
            known is None and not step * self.item_bytes % DIVISOR
            for step, known in zip(self.strides, constant, strict=True)
        ]
        sizes = list(enumerate(self.shape))
        return ArrayConstraint(
            getattr(ct, self.type), len(self.shape), index_dtype=getattr(annotation, "index_dtype", ct.int32),
            stride_lower_bound_incl=0, alias_groups=(), may_alias_internally=self.overlaps, stride_constant=constant,
            shape_constant=[n if n == 1 or axis in fixed else None for axis, n in sizes],
            stride_divisible_by=[DIVISOR // self.item_bytes if yes else 1 for yes in whole],
            shape_divisible_by=[1 if n % DIVISOR or axis in fixed else DIVISOR for axis, n in sizes],
            base_addr_divisible_by=1 if self.offset % DIVISOR else DIVISOR,
        )  # fmt: skip


def tile_array(value: Any) -> TileArray:
    """UsageError for a tensor on a GPU, an element type that cuda.tile lacks, or a negative stride."""
    import cuda.tile as ct

    view = device_view(value)
    name = str(value.dtype).removeprefix("torch.")
    name = OTHER_NAMES.get(name, name)
    if not isinstance(getattr(ct, name, None), ct.DType):
        raise UsageError(f"cuda.tile has no arrays of {value.dtype}")
    size = value.itemsize
    steps = value.stride() if callable(getattr(value, "stride", None)) else [s // size for s in value.strides]
    if any(step < 0 for step in steps):
        raise UsageError("cuda.tile takes no arrays with negative strides")
    return TileArray(view, name, tuple(value.shape), tuple(steps), size)


@dataclass(frozen=True)
class PassedArgument:
    """Passed argument: one parameter of the kernel in the cubin; `value` is an array, an integer or a float."""

    name: str
    value: TileArray | int | float

    def converted(self, size: int) -> Any:
        """As launch() takes it, for a parameter of `size` bytes."""
        if isinstance(self.value, TileArray):
            return self.value.view
        if isinstance(self.value, float):
            return np.float32(self.value).tobytes()
        return (int(self.value) & (1 << 8 * size) - 1).to_bytes(size, "little")


@dataclass(frozen=True)
class TileArguments:
    """cuda.tile arguments: constraints of the kernel's parameters, and the values that are passed."""

    constraints: tuple[Any, ...]
    passed: tuple[PassedArgument, ...]

    @property
    def arrays(self) -> list[TileArray]:
        return [argument.value for argument in self.passed if isinstance(argument.value, TileArray)]


def tile_arguments(kernel: Any, args: Sequence[Any]) -> TileArguments:
    """UsageError for arguments that do not fit."""
    function = kernel._annotated_function
    names = list(function.pysig.parameters)
    if len(args) != len(names):
        raise UsageError(
            f"{function.pyfunc.__name__} takes {', '.join(names)}: {len(names)} arguments, not {len(args)}"
        )
    values = [_opened(value) for value in args]
    nodes = function.parameter_annotations
    constraints = tuple(_constraint(name, value, node) for name, value, node in zip(names, values, nodes, strict=True))
    passed = (_passed(*each) for each in zip(names, values, constraints, strict=True))
    return TileArguments(constraints, tuple(argument for some in passed for argument in some))


def _opened(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_opened, value))
    return value if isinstance(value, bool | int | float | TileArray) or not hasattr(value, "dtype") else _array(value)


def _array(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else tile_array(value)


def _constraint(name: str, value: Any, node: Any) -> Any:
    import cuda.tile as ct
    from cuda.tile.compilation import ConstantConstraint, ScalarConstraint, TupleConstraint

    if isinstance(value, tuple):
        inner = getattr(node, "items", None) or [getattr(node, "each", node)] * len(value)
        return TupleConstraint([_constraint(name, part, each) for part, each in zip(value, inner, strict=True)])
    if isinstance(value, TileArray):
        return value.constraint(node.array)
    if not isinstance(value, bool | int | float):
        raise UsageError(f"{name} is a {type(value).__name__}: arrays, numbers and tuples of them can be launched here")
    if node.constant:
        return ConstantConstraint(value)
    usual = ct.bool_ if isinstance(value, bool) else ct.int32 if isinstance(value, int) else ct.float32
    return ScalarConstraint(node.scalar.dtype if node.scalar else usual)


def _passed(name: str, value: Any, constraint: Any) -> Iterator[PassedArgument]:
    from cuda.tile.compilation import ConstantConstraint, TupleConstraint

    if isinstance(constraint, TupleConstraint):
        for place, (part, inner) in enumerate(zip(value, constraint.items, strict=True)):
            yield from _passed(f"{name}[{place}]", part, inner)
    elif isinstance(value, TileArray):
        yield PassedArgument(name, value)
        for word, numbers in (("shape", value.shape), ("strides", value.strides)):
            for axis, number in enumerate(numbers):
                yield PassedArgument(f"{name}.{word}[{axis}]", number)
    elif not isinstance(constraint, ConstantConstraint):
        yield PassedArgument(name, value)
