"""MUFU against the host's mathematics: within the errors that CUDA's guide gives, and the values at the edges."""

from __future__ import annotations

import math

import pytest
from test_floating import b32, b64, f32

INF, NAN = b32(math.inf), 0x7FFFFFFF
MINUS = 1 << 31
SAMPLES = [
    b32(sign * m * 2.0**e)
    for e in (-125, -60, -13, -3, -1, 0, 1, 2, 5, 20, 100)
    for m in (1.0, 1.1, 1.4142, 1.9999)
    for sign in (1, -1)
]


def units_apart(a: int, b: int) -> int:
    """How many floats lie between two of them."""
    place = lambda x: -(x & 0x7FFFFFFF) if x >> 31 else x  # noqa: E731
    return abs(place(a) - place(b))


def close(engine, opcode, inputs, function, units=1):
    for bits, result in zip(inputs, engine.value(opcode, inputs), strict=True):
        expected = b32(function(f32(bits)))
        if 0 < expected & 0x7FFFFFFF < 0x00800000:
            expected &= 0x80000000  # denormal results are flushed
        assert units_apart(result, expected) <= units, (opcode, f32(bits), f32(result), f32(expected))


def within(engine, opcode, inputs, function, error):
    """As close as this, absolutely."""
    for bits, result in zip(inputs, engine.value(opcode, inputs), strict=True):
        assert abs(f32(result) - function(f32(bits))) <= error, (opcode, f32(bits), f32(result))


def positive(inputs):
    return [x for x in inputs if not x >> 31]


def below(inputs, bound):
    return [x for x in inputs if abs(f32(x)) < bound]


def test_reciprocal_and_roots(engine):
    close(engine, "MUFU.RCP", SAMPLES, lambda x: 1 / x)
    close(engine, "MUFU.RSQ", positive(SAMPLES), lambda x: 1 / math.sqrt(x), units=2)
    close(engine, "MUFU.SQRT", positive(SAMPLES), math.sqrt)


def test_logarithm_and_power(engine):
    near_one = [0x3F7FFFFF, 0x3F800001, 0x3F800100, 0x3F3504F3, 0x3F3504F2, 0x3FB504F3, 0x3FB504F4]
    within(engine, "MUFU.LG2", near_one, math.log2, 2.0**-22)
    close(engine, "MUFU.LG2", [x for x in positive(SAMPLES) if not 0.5 <= f32(x) < 2], math.log2)
    close(engine, "MUFU.EX2", below(SAMPLES, 127), lambda x: 2.0**x, units=2)


def test_circle_functions_count_revolutions(engine):
    inputs = below(SAMPLES, 1000)
    turn = lambda x: 2 * math.pi * (x - round(x))  # noqa: E731
    within(engine, "MUFU.SIN", inputs, lambda x: math.sin(turn(x)), 4e-7)
    within(engine, "MUFU.COS", inputs, lambda x: math.cos(turn(x)), 4e-7)
    quarters = [b32(q / 4) for q in range(-4, 5)]
    assert [f32(x) for x in engine.value("MUFU.SIN", quarters)] == [0, 1, 0, -1, 0, 1, 0, -1, 0]
    assert [f32(x) for x in engine.value("MUFU.COS", quarters)] == [1, 0, -1, 0, 1, 0, -1, 0, 1]


def test_hyperbolic_tangent(engine):
    within(engine, "MUFU.TANH", below(SAMPLES, 1e30), math.tanh, 8e-6)
    assert engine.value("MUFU.TANH", [1, INF, INF | MINUS, NAN]) == [1, b32(1.0), b32(-1.0), NAN]


@pytest.mark.parametrize(
    ("opcode", "edges"),
    [
        ("MUFU.RCP", {0: INF, MINUS: INF | MINUS, INF: 0, INF | MINUS: MINUS, 1: INF, 0x7F7FFFFF: 0}),
        ("MUFU.RSQ", {0: INF, MINUS: INF | MINUS, INF: 0, b32(-1.0): NAN, 1: INF}),
        ("MUFU.SQRT", {0: 0, MINUS: MINUS, INF: INF, b32(-1.0): NAN, 1: 0}),
        ("MUFU.LG2", {0: INF | MINUS, MINUS: INF | MINUS, INF: INF, b32(-1.0): NAN, 1: INF | MINUS}),
        ("MUFU.LG2", {b32(1.0): 0, b32(8.0): b32(3.0)}),
        ("MUFU.EX2", {0: b32(1.0), MINUS: b32(1.0), INF: INF, INF | MINUS: 0}),
        ("MUFU.EX2", {b32(-127.0): 0, b32(128.0): INF, b32(-3.0): b32(0.125)}),
        ("MUFU.SIN", {0: 0, MINUS: MINUS, INF: NAN}),
        ("MUFU.COS", {0: b32(1.0), MINUS: b32(1.0), INF: NAN}),
    ],
)
def test_edges(engine, opcode, edges):
    assert engine.value(opcode, list(edges)) == list(edges.values())
    assert engine.value(opcode, [NAN, 0x7FC12345]) == [NAN, NAN]


def test_high_words_of_doubles(engine):
    highs = [b64(x) >> 32 for x in (1.5, -3.0, 1e300, 1e-300)]
    exact = [1 / x for x in (1.5, -3.0)]
    for high, expected in zip(engine.value("MUFU.RCP64H", highs), exact, strict=False):
        assert abs(high - (b64(expected) >> 32)) <= 1
    roots = engine.value("MUFU.RSQ64H", [b64(4.0) >> 32, b64(2.0) >> 32])
    assert roots[0] == b64(0.5) >> 32
    assert abs(roots[1] - (b64(math.sqrt(0.5)) >> 32)) <= 1
