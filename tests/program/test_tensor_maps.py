"""Tensor maps that a whole program asks libcuda for."""

from __future__ import annotations

from struct import pack

from warplens.core.tensor_map import Swizzle, TensorMap, TensorType
from warplens.program.protocol import TENSOR_MAP, Status
from warplens.program.tensor_maps import encoded


def request(rank: int, swizzle: int) -> bytes:
    """Of 64 x 32 floats, in boxes of 32 x 8."""
    return (
        pack("<10Q", 0x7F0000001000, 64, 32, 0, 0, 0, 256, 0, 0, 0)
        + pack("<16I", 7, rank, 32, 8, 0, 0, 0, 1, 1, 0, 0, 0, 0, swizzle, 1, 0)
        + pack("<7i3I", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    )


def test_the_bytes_are_those_of_the_map() -> None:
    assert len(request(2, 3)) == TENSOR_MAP.size
    wanted = TensorMap(
        0x7F0000001000, TensorType.F32, (64, 32), (256,), (32, 8), (1, 1), swizzle=Swizzle.BYTES_128, promotion=1
    )
    assert encoded(request(2, 3)) == (Status.SUCCESS, wanted.encode())


def test_what_is_no_map_is_an_invalid_value() -> None:
    assert encoded(request(2, 1)) == (Status.INVALID_VALUE, b"")
    assert encoded(request(2, 7)) == (Status.INVALID_VALUE, b"")
