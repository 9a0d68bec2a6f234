"""Tensor maps of a program: cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col (shim/memory_kinds/tensor_map.c)."""

from __future__ import annotations

from warplens.core.tensor_map import Im2col, Interleave, Swizzle, TensorMap, TensorType
from warplens.errors import UsageError
from warplens.program.protocol import TENSOR_MAP, Status

AXES = 5


def encoded(payload: bytes) -> tuple[int, bytes]:
    """Status and the 128 bytes."""
    numbers = iter(TENSOR_MAP.unpack(payload))

    def some(count: int) -> tuple[int, ...]:
        return tuple(next(numbers) for _ in range(count))

    (address,), sizes, strides = some(1), some(AXES), some(AXES - 1)
    (kind, rank), box, steps = some(2), some(AXES), some(AXES)
    (interleave, swizzle, promotion, fill), (is_im2col,) = some(4), some(1)
    lower, upper = some(AXES - 2), some(AXES - 2)
    channels, pixels, _ = some(3)
    try:
        if promotion > 3 or fill > 1:
            raise ValueError
        im2col = Im2col(lower[: rank - 2], upper[: rank - 2], channels, pixels) if is_im2col else None
        made = TensorMap(
            address, TensorType(kind), sizes[:rank], strides[: rank - 1], box[:rank], steps[:rank],
            Interleave(interleave), Swizzle(swizzle), bool(fill), promotion, im2col,
        )  # fmt: skip
        made.check()
    except (ValueError, UsageError):
        return Status.INVALID_VALUE, b""
    return Status.SUCCESS, made.encode()
