"""Logic, shifts, bits and byte permutations against plain formulas."""

from __future__ import annotations

import pytest
from engine import Minus, Not
from test_integer import M32, M64, WORDS, A, B, C, each, s32, s64

COUNTS = [0, 1, 2, 5, 8, 16, 31, 32, 33, 40, 63, 64, 65, 100, 0x8000_0000, M32]
LOW = [w for w in WORDS for _ in COUNTS]
HIGH = [(w * 0x9E3779B1 + 77) & M32 for w in LOW]
BY = COUNTS * len(WORDS)


def truth(table, a, b, c):
    bits = (table >> (((a >> k & 1) << 2) | ((b >> k & 1) << 1) | (c >> k & 1)) & 1 for k in range(32))
    return sum(bit << k for k, bit in enumerate(bits))


@pytest.mark.parametrize("part", range(8))
def test_lop3_for_every_table(engine, part):
    # Three words whose bits run through all eight combinations, and their rotations.
    a, b, c = [0xF0F0F0F0, 0x0F1E2D3C, 0], [0xCCCCCCCC, 0x12345678, 0], [0xAAAAAAAA, 0xDEADBEEF, 0]
    for table in range(part, 256, 8):
        value, some = engine.evaluate("LOP3.LUT", a, b, c, table)
        assert value.tolist() == each(lambda x, y, z, table=table: truth(table, x, y, z), a, b, c), hex(table)
        assert some.tolist() == [v != 0 for v in value.tolist()]


def test_lop3_tables_the_reference_names(engine):
    assert engine.value("LOP3.LUT", A, B, C, 0xC0) == each(lambda a, b: a & b, A, B)
    assert engine.value("LOP3.LUT", A, B, C, 0x30) == each(lambda a, b: a & ~b, A, B)
    assert engine.value("LOP3.LUT", A, B, C, 0x96) == each(lambda a, b, c: a ^ b ^ c, A, B, C)
    assert engine.value("LOP3.LUT", A, B, C, 0xE8) == each(lambda a, b, c: a & b | a & c | b & c, A, B, C)


def test_plop3(engine):
    p, q, r = ([bool(k >> shift & 1) for k in range(8)] for shift in (2, 1, 0))
    for table in range(256):
        first, second = engine.evaluate("PLOP3.LUT", p, q, r, table, 0x80)
        assert first.tolist() == [table >> k & 1 for k in range(8)]
        assert second.tolist() == [k == 7 for k in range(8)]


SHIFTS = {
    # opcode: (amount, 64-bit pair) -> what the shifter does
    "SHF.L.U32": lambda n, x: x << min(n, 32) & M32,
    "SHF.L.U32.HI": lambda n, x: (x << min(n, 32)) >> 32 & M32,
    "SHF.L.W.U32": lambda n, x: x << n % 32 & M32,
    "SHF.L.W.U32.HI": lambda n, x: (x << n % 32) >> 32 & M32,
    "SHF.L.U64.HI": lambda n, x: (x << min(n, 64)) >> 32 & M32,
    "SHF.R.U32": lambda n, x: x >> min(n, 32) & M32,
    "SHF.R.U32.HI": lambda n, x: x >> min(n, 32) >> 32,
    "SHF.R.W.U32": lambda n, x: x >> n % 32 & M32,
    "SHF.R.S32.HI": lambda n, x: s64(x) >> min(n, 32) >> 32 & M32,
    "SHF.R.U64": lambda n, x: x >> min(n, 64) & M32,
    "SHF.R.S64": lambda n, x: s64(x) >> min(n, 64) & M32,
    "SHF.R.S32": lambda n, x: s64(x) >> min(n, 32) & M32,
}


@pytest.mark.parametrize("opcode", SHIFTS)
def test_shf_clamps_and_wraps(engine, opcode):
    expected = each(lambda low, n, high: SHIFTS[opcode](n, high << 32 | low), LOW, BY, HIGH)
    assert engine.value(opcode, LOW, BY, HIGH) == expected


@pytest.mark.parametrize("by", [0, 1, 4, 27, 31])
def test_lea(engine, by):
    low, carry = engine.evaluate("LEA", A, B, by)
    assert low.tolist() == each(lambda a, b: ((a << by) + b) & M32, A, B)
    assert carry.tolist() == each(lambda a, b: (a << by & M32) + b > M32, A, B)


@pytest.mark.parametrize("by", [0, 3, 31])
def test_lea_x_adds_a_carry(engine, by):
    """With PT an odd byte's address: base + 8 * n + 1 (random programs, seeds 10304 and 10505)."""
    for carry in (False, True):
        low, over = engine.evaluate("LEA.X", A, B, by, carry)
        assert low.tolist() == each(lambda a, b: (a << by) + b + carry & M32, A, B)  # noqa: B023
        assert over.tolist() == each(lambda a, b: (a << by & M32) + b + carry > M32, A, B)  # noqa: B023


def test_lea_subtracts_64_bits(engine):
    """base - 8 * (n + 1), as compilers write it: the high word is ~hi(8 n) - 1 + carry."""
    n = [0, 1, 2, 0x1000, 0x0FFFFFFF]
    low, carry = engine.evaluate("LEA", Minus(n), [0xFFFFFFF8] * 5, 3)
    high = engine.value("IADD3.X", Not([0] * 5), [M32] * 5, [0] * 5, [bool(c) for c in carry], False)
    assert each(lambda h, x: h << 32 | int(x), high, low) == [-8 * (x + 1) & M64 for x in n]


@pytest.mark.parametrize("by", [1, 4, 27, 31])
def test_lea_hi(engine, by):
    assert engine.value("LEA.HI", A, B, C, by) == each(
        lambda a, b, c: (((c << 32 | a) << by & M64) >> 32) + b & M32, A, B, C
    )
    signs = [c & 1 == 1 for c in C]
    assert engine.value("LEA.HI.X", A, B, C, by, signs) == each(
        lambda a, b, c, p: (((c << 32 | a) << by & M64) >> 32) + b + p & M32, A, B, C, signs
    )
    assert engine.value("LEA.HI.X.SX32", A, B, by, signs) == each(
        lambda a, b, p: (s32(a) << by >> 32) + b + p & M32, A, B, signs
    )


def test_an_address_from_lea_and_lea_hi_x(engine):
    low, carry = engine.evaluate("LEA", A, B, 3)
    high = engine.value("LEA.HI.X", A, C, C[::-1], 3, [bool(c) for c in carry])
    assert each(lambda h, x: h << 32 | int(x), high, low) == each(
        lambda a, b, c, d: ((d << 32 | a) << 3) + (c << 32 | b) & M64, A, B, C, C[::-1]
    )


def test_counting_bits(engine):
    assert engine.value("POPC", A) == [bin(a).count("1") for a in A]
    assert engine.value("BREV", A) == [int(f"{a:032b}"[::-1], 2) for a in A]
    highest = [next((k for k in range(31, -1, -1) if a >> k & 1), -1) for a in A]
    assert engine.value("FLO.U32", A) == [h & M32 for h in highest]
    assert engine.value("FLO.U32.SH", A) == [(31 - h if h >= 0 else -1) & M32 for h in highest]
    significant = [next((k for k in range(31, -1, -1) if a >> k & 1 != a >> 31), -1) for a in A]
    assert engine.value("FLO", A) == [h & M32 for h in significant]


def test_bmsk_and_sgxt(engine):
    assert engine.value("BMSK", LOW, BY) == each(lambda a, b: sum(1 << k for k in range(32) if a <= k < a + b), LOW, BY)
    assert engine.value("BMSK.W", LOW, BY) == each(
        lambda a, b: sum(1 << k for k in range(32) if a % 32 <= k < a % 32 + b % 32), LOW, BY
    )

    def extended(a, n, signed):
        field = a & ((1 << n) - 1)
        return (field - (1 << n) if signed and n and field >> (n - 1) else field) & M32

    assert engine.value("SGXT.U32", LOW, BY) == each(lambda a, n: extended(a, min(n, 32), False), LOW, BY)
    assert engine.value("SGXT", LOW, BY) == each(lambda a, n: extended(a, min(n, 32), True), LOW, BY)
    assert engine.value("SGXT.W", LOW, BY) == each(lambda a, n: extended(a, n % 32, True), LOW, BY)


@pytest.mark.parametrize("selector", [0x3210, 0x5410, 0x7632, 0x0123, 0x9910, 0xBA98, 0xFEDC, 0x4444, 0x8880])
def test_prmt(engine, selector):
    def permuted(a, b):
        source = (b << 32 | a).to_bytes(8, "little")
        picks = [selector >> 4 * k & 15 for k in range(4)]
        return int.from_bytes(
            [(255 if source[p & 7] > 127 else 0) if p & 8 else source[p & 7] for p in picks], "little"
        )

    assert engine.value("PRMT", A, selector, B) == each(permuted, A, B)


def test_moves_and_selections(engine):
    signs = [c & 1 == 1 for c in C]
    assert engine.value("MOV", A) == A
    assert engine.value("SEL", A, B, signs) == each(lambda a, b, p: a if p else b, A, B, signs)
    assert engine.value("SEL.64", A, B, signs) == each(lambda a, b, p: a if p else b, A, B, signs)
