"""Arrays with tensor maps: as arguments in words, and what they cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens.core.tensor_map import Swizzle, TensorType
from warplens.errors import UsageError
from warplens.launchspec.arguments import parse_argument
from warplens.launchspec.mapped_array import MappedArray


def test_in_words() -> None:
    argument = parse_argument("a = random bf16[64, n] tensor_map(32, n / 2, swizzle=128, nan=1)", {"n": 128})
    made = argument.make(128)
    assert isinstance(made, MappedArray)
    layout = made.layout
    assert (argument.label, made.shape) == ("a", (64, 128))
    assert (layout.type, layout.swizzle) == (TensorType.BF16, Swizzle.BYTES_128)
    assert (layout.sizes, layout.strides, layout.box, layout.fill_nan) == ((128, 64), (256,), (64, 32), True)


@pytest.mark.parametrize(
    ("text", "size", "message"),
    [
        ("random f32[8, 8] tensor_map(4)", 128, "box has 1 sizes, and the array 2 dimensions"),
        ("random f32[8, 8] tensor_map(4, 4, swizzle=16)", 128, "swizzle 16; possible are 0, 32, 64, 128"),
        ("random f32[8, 8] tensor_map(4, 4, box=1)", 128, "a tensor map has no box; possible are swizzle"),
        ("random f32[8, 8] tensor_map(4, 4)", 8, "is a tensor map of 128 bytes, and the kernel's parameter here has 8"),
        ("random f32[8, 9] tensor_map(4, 4)", 128, "strides 36 bytes: not multiples of 16"),
    ],
)
def test_what_cannot_be(text: str, size: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_argument(text).make(size)


def test_a_pitched_array() -> None:
    made = wl.tensor_map(wl.pitched(np.ones((5, 9), np.float32)), (4, 4))
    assert (made.layout.strides, made.nbytes) == ((512,), 5 * 512)


@pytest.mark.parametrize(
    ("array", "how", "message"),
    [
        (np.zeros((8, 8), np.complex64), {}, "no element type complex64"),
        (np.zeros((8, 8), np.float32).T[:, :4], {}, "the array is not contiguous"),
        (np.zeros((8, 8), np.int32), {"fill": "nan"}, "integers cannot be filled with NaN"),
        (np.zeros((8, 8), np.float32), {"element_type": "f8"}, "no element type f8"),
    ],
)
def test_arrays_that_have_no_map(array: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        wl.tensor_map(array, (4, 4), **how)


def test_a_pointer_is_no_map() -> None:
    source = 'extern "C" __global__ void k(float *x) { x[0] = 1; }'
    with pytest.raises(UsageError, match="is a tensor map, but the kernel takes 8 bytes there, not a CUtensorMap"):
        wl.compile(source=source)["k"].launch(1, 1, wl.tensor_map(np.zeros((4, 4), np.float32), (4, 4)))
