"""Structures by value: laid out as C++ does it."""

from __future__ import annotations

import re
import struct

import pytest

from warplens.errors import UsageError
from warplens.launchspec.arguments import parse_argument


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("struct(f32 0.5, i32 n)", struct.pack("fi", 0.5, 7)),
        ("s = struct(u8 1, f64 2.5, i16 -3)", struct.pack("BxxxxxxxdhxxxxxX".replace("X", "x"), 1, 2.5, -3)),
        ("struct(i8 1, f32x3 (0, 1, 2.5))", struct.pack("bxxxfff", 1, 0, 1, 2.5)),
        ("struct(i8 1, float4 2)", struct.pack("b15x4f", 1, 2, 2, 2, 2)),
        ("struct(bf16 1, half 1)", b"\x80\x3f\x00\x3c"),
        ("struct(f32 1, f64x4 2)", struct.pack("f12x4d", 1, 2, 2, 2, 2)),  # 16, not 32
        ("struct(u64 n << 40)", struct.pack("Q", 7 << 40)),
    ],
)
def test_layout(text, data):
    made = parse_argument(text, {"n": 7}).make(len(data))
    assert made.tobytes() == data


@pytest.mark.parametrize(
    ("text", "size", "said"),
    [
        ("struct(f32 0.5)", 8, "the structure has 4 bytes, and the kernel takes one of 8"),
        ("struct(0.5)", None, "'0.5' is no field; write a type and a value"),
        ("struct(u8 256)", None, "u8 holds whole numbers from 0 to 255, not 256"),
        ("struct(f32x3 (1, 2))", None, "has 2 values; f32x3 takes 1 or 3"),
        ("1.5", 12, "a parameter of 12 bytes is a structure: write its fields, struct(f32 0.5"),
    ],
)
def test_refused(text, size, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_argument(text).make(size)
