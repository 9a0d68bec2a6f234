"""Reductions: what a bulk reduction makes of an old number and a new one."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import U32, U64, Int
from warplens.isa.dsl.operation_records import BulkReduction
from warplens.isa.floating import fadd
from warplens.isa.half import hadd2, hmnmx2


def reduced(reduction: BulkReduction, old: Sequence[U32], new: Sequence[U32]) -> list[U32]:
    """The words of one number, or of a pair of halves."""
    op, number = reduction.op, reduction.number
    if number in ("f16", "bf16"):
        return [_halves(op, number == "bf16", old[0].bitcast(H2), new[0].bitcast(H2)).u32()]
    if number == "f32":
        return [fadd(old[0].float_bits(), new[0].float_bits(), FTZ=False, SAT=False).u32()]
    if len(old) == 1:
        return [_integer(op, number == "s32", old[0], new[0]).bitcast(U32)]
    wide = [words[0].join(words[1]) for words in (old, new)]
    if number == "f64":
        total = (wide[0].double_bits() + wide[1].double_bits()).u64()
    else:
        total = _integer(op, number == "s64", *wide).bitcast(U64)
    return [total.low(), total.high()]


def _halves(op: str, brain: bool, old: H2, new: H2) -> H2:
    if op == "add":
        return hadd2(old, new, BF16_V2=brain, SAT=False, RELU=False, FTZ=False)
    least = (old.u32().eq(old.u32())) if op == "min" else old.u32().ne(old.u32())
    return hmnmx2(old, new, least, BF16_V2=brain, NAN=False, FTZ=False)


def _integer(op: str, signed: bool, old: Int, new: Int) -> Int:
    if op in ("min", "max"):
        x, y = ((v.s32() if isinstance(v, U32) else v.s64()) if signed else v for v in (old, new))  # type: ignore[attr-defined]
        return x.min(y) if op == "min" else x.max(y)
    if op == "inc":  # from 0 to the new number
        return (old >= new).choose(old.like(0), old + 1)
    if op == "dec":
        return (old.eq(0) | (old > new)).choose(new, old - 1)
    return {"add": old.__add__, "and": old.__and__, "or": old.__or__, "xor": old.__xor__}[op](new)
