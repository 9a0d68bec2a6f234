"""Logic, shifts and single bits of integers (sass.md 2.1)."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

from warplens.isa.dsl.lanes import FALSE, S32, U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Addend

B = TypeVar("B", U32, Pred)


def lookup(table: int, *inputs: B) -> B:
    """The Boolean function whose value for inputs (a, b, c) is bit 4a + 2b + c of `table`, bit by bit.

    By Shannon's expansion on the first input: f = (f1 ^ f0) & a ^ f0.
    """
    outcome: B | bool = _expand(table, inputs)
    return inputs[0].like(-1 if outcome else 0) if isinstance(outcome, bool) else outcome


def _expand(table: int, inputs: tuple[Any, ...]) -> Any:
    """A value, or a Python bool where the function is constant."""
    size = 1 << len(inputs)
    if table in (0, (1 << size) - 1):
        return table != 0
    a, rest = inputs[0], inputs[1:]
    ones = (1 << size // 2) - 1
    table0, table1 = table & ones, table >> (size // 2)
    if table0 == table1:
        return _expand(table0, rest)
    f0, f1 = _expand(table0, rest), _expand(table1, rest)
    if isinstance(f0, bool) and isinstance(f1, bool):
        return a if f1 else ~a
    if isinstance(f0, bool):
        return ~a | f1 if f0 else a & f1
    if isinstance(f1, bool):
        return a | f0 if f1 else ~a & f0
    if table0 ^ table1 == ones:
        return a ^ f0
    # Where one member holds whenever the other does, the expansion is shorter.
    if table0 & ~table1 == 0:
        return (a & f1) | f0
    if table1 & ~table0 == 0:
        return (~a & f0) | f1
    return (a & f1) | (~a & f0)


@op("LOP3.LUT", "ULOP3.LUT", pipe="alu", probe="a & b ^ c")
def lop3(a: U32, b: U32, c: U32, table: int, p: Pred = FALSE) -> tuple[U32, Pred]:
    value = lookup(table, a, b, c)
    return value, value.ne(0) | p


@op("PLOP3.LUT", "UPLOP3.LUT", pipe="alu", probe="p && q || r")
def plop3(a: Pred, b: Pred, c: Pred, table: int, second: int) -> tuple[Pred, Pred]:
    return lookup(table, a, b, c), lookup(second, a, b, c)


# Shifts


@op("SHF", "USHF", pipe="alu", probe="__funnelshift_l(a, b, c)")
def shf(
    low: U32, amount: U32, high: U32, *,
    way: Literal["L", "R"], type: Literal["U32", "S32", "U64", "S64"] = "U32", W: bool, HI: bool,
) -> U32:  # fmt: skip
    """A pair shifted by at most its type's width (.W: modulo the width), the sign filling in for S types."""
    width = 64 if type in ("U64", "S64") else 32
    signed = type in ("S32", "S64")
    by = amount & (width - 1) if W else amount
    if way == "L" and not HI:
        return low << by
    if way == "R" and HI:
        return (high.s32() >> by.s32()).u32() if signed else high >> by
    pair = low.join(high)
    steps = (by if W else by.min(width)).wide()
    if way == "L":
        return (pair << steps).high()
    return (pair.s64() >> steps.s64()).low() if signed else (pair >> steps).low()


@op("LEA", "ULEA", pipe="alu", probe="(a << 2) + b")
def lea(a: Addend, b: Addend, by: int) -> tuple[U32, Pred]:
    """-0 carries as in IADD3."""
    shifted = a << by
    return shifted.value + b.value, ((shifted.wide + b.wide) >> 32).ne(0)


@op("LEA.X", "ULEA.X", pipe="alu")
def lea_x(a: U32, b: Addend, by: int, carry: Pred) -> tuple[U32, Pred]:
    """A carry that is always there adds the 1 of an odd byte's address."""
    return _sum(a << by, b, carry)


@op("LEA.HI", "ULEA.HI", pipe="alu", probe="a + (int)((unsigned)a >> 31)")
def lea_hi(a: U32, b: Addend, c: U32, by: int, carry: Pred = FALSE, *, X: bool) -> tuple[U32, Pred]:
    return _sum((a.join(c) << by).high(), b, carry)


@op("LEA.HI.SX32", "ULEA.HI.SX32", pipe="alu")
def lea_hi_sx32(a: S32, b: Addend, by: int, carry: Pred = FALSE, *, X: bool) -> tuple[U32, Pred]:
    return _sum((a >> (32 - by)).u32(), b, carry)


def _sum(high: U32, b: Addend, carry: Pred) -> tuple[U32, Pred]:
    return high + b.value + carry.u32(), ((high.wide() + b.wide + carry.u64()) >> 32).ne(0)


# Bits


@op("POPC", "UPOPC", pipe="xu", probe="__popc(a)")
def popc(a: U32) -> U32:
    return a.popc()


@op("BREV", "UBREV", pipe="xu", probe="__brev(a)")
def brev(a: U32) -> U32:
    return a.brev()


@op(
    "FLO", "UFLO", pipe="xu", probe="__clz(a)",
    text="{to} = {SH:leading zeros of|position of the highest one in} {a}, -1 if none",
)  # fmt: skip
def flo(a: S32, *, U32: bool, SH: bool) -> tuple[U32, Pred]:
    """Position of the highest one, or of the highest bit that is not a copy of the sign; -1 if there is none.

    .SH counts from the top: what a left shift would need.  The predicate: there is one (inferred).
    """
    word = a.u32() if U32 else (a ^ (a >> 31)).u32()
    none = word.eq(0)
    zeros = word.clz()
    return (none.choose(zeros.like(-1), zeros) if SH else 31 - zeros), ~none


@op("BMSK", "UBMSK", pipe="alu", text="{to} = {count} ones from bit {first} up")
def bmsk(first: U32, count: U32, *, W: bool) -> U32:
    """PTX bmsk: clamped at bit 32, or both numbers modulo 32 with .W."""
    first, count = (first & 31, count & 31) if W else (first.min(32), count.min(32))
    one = count.wide().like(1)
    return (((one << count.wide()) - 1) << first.wide()).low()


@op("SGXT", "USGXT", pipe="alu", text="{to} = the low {bits} bits of {a}, {U32:zero|sign}-extended")
def sgxt(a: S32, bits: U32, *, U32: bool, W: bool) -> S32:
    """PTX szext: clamped at 32, or modulo 32 with .W."""
    empty = 32 - (bits & 31 if W else bits.min(32))
    top = a << empty.s32()
    return (top.u32() >> empty).s32() if U32 else (top >> empty.s32()) & empty.eq(32).choose(top.like(0), -1)
