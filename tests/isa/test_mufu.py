"""MUFU as an H200 has it, bit for bit (driver 580.159.04, 2026-11-21), kept as check sums of the results.

Edges: 6 runs of 256 numbers at every sign and exponent.  Binades: all 2^23 numbers of one.
"""

from __future__ import annotations

import struct
from functools import cache
from zlib import crc32

import numpy as np
import pytest

import warplens as wl

REVOLUTIONS = struct.pack("<I", 0x3E22F983)  # 1 / (2 pi), by which PTX has an angle multiplied first
RUNS = np.array([0, 0x155500, 0x2AAA00, 0x400000, 0x6F3C00, 0x7FFF00], np.uint32)
EDGES = {
    "rcp.f32": "a33009e3", "rsqrt.f32": "0f4d55d6", "sqrt.f32": "09391947", "ex2.f32": "beb09af4",
    "lg2.f32": "8be0ad03", "sin.f32": "6143465b", "cos.f32": "6ed2413b",
    "tanh.f32": "97ff22fa",
    "rcp.f64": "ff95d04f", "rsqrt.f64": "6384ab02",
}  # fmt: skip
BINADES = [
    ("rcp.f32", 1.0, "a9f2ecfc"), ("rsqrt.f32", 1.0, "efe1faf5"), ("rsqrt.f32", 2.0, "510dc204"),
    ("sqrt.f32", 1.0, "851c4f4c"), ("sqrt.f32", 2.0, "279bc15f"), ("ex2.f32", 1.0, "676486cd"),
    ("ex2.f32", 0.5, "2746c468"), ("ex2.f32", -1.0, "c99445cd"), ("lg2.f32", 0.5, "1852a07c"),
    ("lg2.f32", 1.0, "15f1d460"), ("lg2.f32", 2.0, "f4d108df"), ("sin.f32", 0.125, "019f33e9"),
    ("sin.f32", 0.25, "9de9ffa1"), ("cos.f32", 0.0625, "bccbf0d9"), ("cos.f32", 0.25, "4ebcd39b"),
    ("tanh.f32", 2.0**-8, "c742a556"), ("tanh.f32", 2.0**-7, "58833800"), ("tanh.f32", 2.0**-6, "6ffb9b37"),
    ("tanh.f32", 2.0**-5, "a0cc1295"), ("tanh.f32", 2.0**-4, "c0e3159d"), ("tanh.f32", 2.0**-3, "46910649"),
    ("tanh.f32", 1.0, "1ac436a3"), ("tanh.f32", 2.0, "e8641d47"), ("tanh.f32", 4.0, "294d3119"),
]  # fmt: skip
SINGLE = 'unsigned r; asm({ptx} : "=r"(r) : "r"(x)); out[i] = r;'
DOUBLE = 'double r; asm({ptx} : "=d"(r) : "d"(__hiloint2double(x, 0))); out[i] = __double2hiint(r);'


@cache
def kernel(function: str) -> wl.LaunchableKernel:
    name, kind = function.split(".")
    flush = "" if name == "tanh" else ".ftz"
    text = (SINGLE if kind == "f32" else DOUBLE).replace("{ptx}", f'"{name}.approx{flush}.{kind} %0, %1;"')
    source = f"""extern "C" __global__ void f(const unsigned* first, unsigned* out) {{
      unsigned i = blockIdx.x * 256 + threadIdx.x, x = first[blockIdx.x] + threadIdx.x; {text} }}"""
    made = wl.compile(source=source, arch="sm_90")
    return wl.load(made.cubin.data.replace(REVOLUTIONS, struct.pack("<f", 1.0)))["f"]


def digest(function: str, first: np.ndarray) -> str:
    """Of the results of 256 numbers from each of these on."""
    out = np.zeros((first.size, 256), np.uint32)
    kernel(function).launch(first.size, 256, first, out.reshape(-1), threads=1)
    return f"{crc32(out.tobytes()):08x}"


@pytest.mark.parametrize("function", EDGES)
def test_at_every_exponent(function: str) -> None:
    exponents = np.arange(512, dtype=np.uint32) << np.uint32(23)
    assert digest(function, (exponents[:, None] + RUNS).reshape(-1)) == EDGES[function]


@pytest.mark.long
@pytest.mark.parametrize(("function", "start", "measured"), BINADES)
def test_whole_binade(function: str, start: float, measured: str) -> None:
    first = int(np.float32(start).view(np.uint32))
    assert digest(function, first + np.arange(0, 1 << 23, 256, dtype=np.uint32)) == measured
