"""Integer sentences against Python's integers, on awkward words."""

from __future__ import annotations

import itertools

import pytest
from engine import Minus, Not

M32, M64 = 0xFFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF
WORDS = [
    0, 1, 2, 3, 31, 32, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x12345678, 0x7FFF_FFFF, 0x8000_0000, 0x8000_0001,
    0xDEADBEEF, 0xFFFF_FFFE, M32,
]  # fmt: skip
PAIRS = list(itertools.product(WORDS, WORDS))
A, B = [a for a, _ in PAIRS], [b for _, b in PAIRS]
C = [(a * 2654435761 + b * 40503 + 12345) & M32 for a, b in PAIRS]
WIDE = [(a * 0x9E3779B97F4A7C15 + (b << 32) + 1) & M64 if a != b else M64 for a, b in PAIRS]
SIGNS = [(a ^ b) & 1 == 1 for a, b in PAIRS]


def s32(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


def s64(x: int) -> int:
    return x - (1 << 64) if x >> 63 else x


def each(function, *lists):
    return [function(*lane) for lane in zip(*lists, strict=True)]


def test_iadd3_sums_and_carries(engine):
    total, carry, second = engine.evaluate("IADD3", A, B, C)
    wide = each(lambda a, b, c: a + b + c, A, B, C)
    assert total.tolist() == [w & M32 for w in wide]
    assert carry.tolist() == [w >= 1 << 32 for w in wide]
    assert second.tolist() == [w >= 1 << 33 for w in wide]


def test_iadd3_subtracts_with_the_carry_of_minus_zero(engine):
    total, carry, _ = engine.evaluate("IADD3", A, Minus(B), [0] * len(A))
    assert total.tolist() == each(lambda a, b: (a - b) & M32, A, B)
    assert carry.tolist() == each(lambda a, b: a >= b, A, B)  # no borrow


def test_iadd3_x_continues_a_sum(engine):
    low, carry, _ = engine.evaluate("IADD3", A, B, [0] * len(A))
    high, _, _ = engine.evaluate("IADD3.X", C, A, [0] * len(A), [bool(c) for c in carry], False)
    both = each(lambda a, b, c: ((c << 32 | a) + (a << 32 | b)) & M64, A, B, C)
    assert each(lambda h, x: int(h) << 32 | int(x), high, low) == both


def test_a_64_bit_difference_from_its_halves(engine):
    low, carry, _ = engine.evaluate("IADD3", A, Minus(B), [0] * len(A))
    high, _, _ = engine.evaluate("IADD3.X", C, Not(A), [0] * len(A), [bool(c) for c in carry], False)
    both = each(lambda a, b, c: ((c << 32 | a) - (a << 32 | b)) & M64, A, B, C)
    assert each(lambda h, x: int(h) << 32 | int(x), high, low) == both


def test_sums_and_differences_of_64_bits_from_two_terms(engine):
    """IADD with a carry, as NVRTC 13.5 has it for sm_120."""
    low, carry = engine.evaluate("IADD", A, B)
    high, _ = engine.evaluate("IADD.X", C, A, [bool(c) for c in carry])
    both = each(lambda a, b, c: ((c << 32 | a) + (a << 32 | b)) & M64, A, B, C)
    assert each(lambda h, x: int(h) << 32 | int(x), high, low) == both
    low, carry = engine.evaluate("IADD", A, Minus(B))
    high, over = engine.evaluate("IADD.X", C, Not(A), [bool(c) for c in carry])
    both = each(lambda a, b, c: ((c << 32 | a) - (a << 32 | b)) & M64, A, B, C)
    assert each(lambda h, x: int(h) << 32 | int(x), high, low) == both
    assert each(bool, over) == each(lambda a, b, c: (c << 32 | a) >= (a << 32 | b), A, B, C)


def test_imad(engine):
    assert engine.value("IMAD", A, B, C) == each(lambda a, b, c: (a * b + c) & M32, A, B, C)
    assert engine.value("IMAD.X", A, B, C, SIGNS) == each(lambda a, b, c, p: (a * b + c + p) & M32, A, B, C, SIGNS)
    assert engine.value("IMAD.MOV.U32", [0] * len(C), [0] * len(C), C) == C


@pytest.mark.parametrize(("opcode", "number"), [("IMAD.WIDE", s32), ("IMAD.WIDE.U32", int)])
def test_imad_wide(engine, opcode, number):
    total, carry = engine.evaluate(opcode, A, B, WIDE)
    products = each(lambda a, b: (number(a) * number(b)) & M64, A, B)
    assert total.tolist() == each(lambda p, c: (p + c) & M64, products, WIDE)
    assert carry.tolist() == each(lambda p, c: p + c > M64, products, WIDE)


@pytest.mark.parametrize(("opcode", "number"), [("IMAD.HI", s32), ("IMAD.HI.U32", int)])
def test_imad_hi_adds_the_whole_pair(engine, opcode, number):
    expected = each(lambda a, b, c: (((number(a) * number(b)) & M64) + c & M64) >> 32, A, B, WIDE)
    assert engine.value(opcode, A, B, WIDE) == expected


def test_imad_hi_with_a_carry(engine):
    """The upper words of a 128-bit product: the carry comes in at bit 0 of the pair."""
    expected = each(lambda a, b, c, p: ((a * b + c + p) & M64) >> 32, A, B, WIDE, SIGNS)
    assert engine.value("IMAD.HI.U32.X", A, B, WIDE, SIGNS) == expected


@pytest.mark.parametrize("width", ["IADD.64", "UIADD3.64"])
def test_64_bit_sums(engine, width):
    other = WIDE[1:] + WIDE[:1]
    third = [[0] * len(WIDE)] if width == "UIADD3.64" else []
    total, carry, *_ = engine.evaluate(width, WIDE, other, *third)
    assert total.tolist() == each(lambda a, b: (a + b) & M64, WIDE, other)
    assert carry.tolist() == each(lambda a, b: a + b > M64, WIDE, other)


def test_64_bit_sums_of_three_with_two_carries(engine):
    places = [WIDE[n:] + WIDE[:n] for n in range(3)]
    flags = [SIGNS, SIGNS[1:] + SIGNS[:1]]
    total, first, second = engine.evaluate("UIADD3.64.X", *places, *flags)
    meant = each(lambda a, b, c, p, q: a + b + c + p + q, *places, *flags)
    assert total.tolist() == [m & M64 for m in meant]
    assert first.tolist() == [m > M64 for m in meant]
    assert second.tolist() == [m >> 64 > 1 for m in meant]


def test_a_difference_of_64_bits_carries_where_nothing_is_borrowed(engine):
    """Zero among what is taken away: differences of 128 bits were 2^64 too small there."""
    less = [0, *WIDE[1:]]
    total, carry = engine.evaluate("IADD.64", WIDE, Minus(less))
    assert total.tolist() == each(lambda a, b: (a - b) & M64, WIDE, less)
    assert carry.tolist() == each(lambda a, b: a >= b, WIDE, less)


ORDERS = {
    "LT": int.__lt__,
    "LE": int.__le__,
    "GT": int.__gt__,
    "GE": int.__ge__,
    "EQ": int.__eq__,
    "NE": int.__ne__,
}
COMBINES = {"AND": bool.__and__, "OR": bool.__or__, "XOR": bool.__xor__}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("combine", COMBINES)
def test_isetp(engine, order, combine):
    for suffix, number in (("", s32), (".U32", int)):
        first, second = engine.evaluate(f"ISETP.{order}{suffix}.{combine}", A, B, SIGNS)
        holds = each(lambda a, b, number=number: ORDERS[order](number(a), number(b)), A, B)
        assert first.tolist() == each(COMBINES[combine], holds, SIGNS)
        assert second.tolist() == each(lambda h, p: COMBINES[combine](not h, p), holds, SIGNS)


@pytest.mark.parametrize("order", ORDERS)
def test_isetp_ex_compares_64_bits(engine, order):
    for suffix, number in (("", s64), (".U32", int)):
        low, _ = engine.evaluate(f"ISETP.{order}.U32.AND", A, B, True)
        first, _ = engine.evaluate(f"ISETP.{order}{suffix}.AND.EX", B, C, True, [bool(p) for p in low])
        again, _ = engine.evaluate(f"ISETP.{order}{suffix}.AND.EX", B, B, True, [bool(p) for p in low])
        assert first.tolist() == each(
            lambda a, b, c, number=number: ORDERS[order](number(b << 32 | a), number(c << 32 | b)), A, B, C
        )
        assert again.tolist() == each(
            lambda a, b, number=number: ORDERS[order](number(b << 32 | a), number(b << 32 | b)), A, B
        )


def test_isetp_s64(engine):
    other = WIDE[1:] + WIDE[:1]
    assert engine.value("ISETP.GE.S64.AND", WIDE, other) == each(lambda a, b: s64(a) >= s64(b), WIDE, other)
    assert engine.value("ISETP.LE.U64.AND", WIDE, other) == each(lambda a, b: a <= b, WIDE, other)


def test_minima_and_maxima(engine):
    for least, function in ((True, min), (False, max)):
        assert engine.value("IMNMX", A, B, least) == each(
            lambda a, b, function=function: function(s32(a), s32(b)) & M32, A, B
        )
        assert engine.value("VIMNMX.U32", A, B, least) == each(function, A, B)
        assert engine.value("IMNMX.S64", WIDE, WIDE[::-1], least, False) == each(
            lambda a, b, function=function: function(s64(a), s64(b)) & M64, WIDE, WIDE[::-1]
        )
        assert engine.value("VIADDMNMX", A, B, C, least) == each(
            lambda a, b, c, function=function: function(s32((a + b) & M32), s32(c)) & M32, A, B, C
        )
        assert engine.value("VIMNMX3", A, B, C, least) == each(
            lambda a, b, c, function=function: function(s32(a), s32(b), s32(c)) & M32, A, B, C
        )
    assert engine.value("VIMNMX.RELU", A, B, True) == each(lambda a, b: max(0, min(s32(a), s32(b))), A, B)


def test_iabs_keeps_the_least_number(engine):
    assert engine.value("IABS", A) == each(lambda a: abs(s32(a)), A)


def test_vabsdiff(engine):
    assert engine.value("VABSDIFF", A, B, C) == each(lambda a, b, c: (abs(s32(a) - s32(b)) + c) & M32, A, B, C)
    assert engine.value("VABSDIFF.U32", A, B, C) == each(lambda a, b, c: (abs(a - b) + c) & M32, A, B, C)


def test_vabsdiff4(engine):
    expected = each(
        lambda a, b: int.from_bytes(abs(x - y) for x, y in zip(a.to_bytes(4), b.to_bytes(4), strict=True)),
        A,
        B,
    )
    assert engine.value("VABSDIFF4.U8", A, B, [0] * len(A)) == expected


def test_dot_products(engine):
    def bytes_of(word, signed):
        return [int.from_bytes([x], signed=signed) for x in word.to_bytes(4, "little")]

    def halves_of(word, signed):
        return [int.from_bytes(word.to_bytes(4, "little")[k : k + 2], "little", signed=signed) for k in (0, 2)]

    def dot(x, y, c):
        return (sum(p * q for p, q in zip(x, y, strict=True)) + c) & M32

    assert engine.value("IDP.4A.S8.S8", A, B, C) == each(
        lambda a, b, c: dot(bytes_of(a, True), bytes_of(b, True), c), A, B, C
    )
    assert engine.value("IDP.4A.U8.U8", A, B, C) == each(
        lambda a, b, c: dot(bytes_of(a, False), bytes_of(b, False), c), A, B, C
    )
    assert engine.value("IDP.2A.LO.S16.S8", A, B, C) == each(
        lambda a, b, c: dot(halves_of(a, True), bytes_of(b, True)[:2], c), A, B, C
    )
    assert engine.value("IDP.2A.HI.U16.U8", A, B, C) == each(
        lambda a, b, c: dot(halves_of(a, False), bytes_of(b, False)[2:], c), A, B, C
    )


def test_minima_of_fields(engine):
    def fields(word, bits, signed):
        parts = [word >> (bits * k) & ((1 << bits) - 1) for k in range(32 // bits)]
        return [p - (1 << bits) if signed and p >> (bits - 1) else p for p in parts]

    def packed(parts, bits):
        return sum((p & ((1 << bits) - 1)) << (bits * k) for k, p in enumerate(parts))

    for suffix, bits, signed in (("S16x2", 16, True), ("U16x2", 16, False), ("U8x4", 8, False)):
        pairs = [list(zip(fields(a, bits, signed), fields(b, bits, signed), strict=True)) for a, b in PAIRS]
        assert engine.value(f"VIMNMX.{suffix}", A, B, True) == [packed([min(x) for x in p], bits) for p in pairs]
        assert engine.value(f"VIMNMX.{suffix}", A, B, False) == [packed([max(x) for x in p], bits) for p in pairs]
    sums = [
        [(x + y + 0x8000) % 0x10000 - 0x8000 for x, y in zip(fields(a, 16, True), fields(b, 16, True), strict=True)]
        for a, b in PAIRS
    ]
    expected = [
        packed((max(0, min(x, y)) for x, y in zip(s, fields(c, 16, True), strict=True)), 16)
        for s, c in zip(sums, C, strict=True)
    ]
    assert engine.value("VIADDMNMX.S16x2.RELU", A, B, C, True) == expected
