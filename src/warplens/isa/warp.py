"""Cross-lane operations: shuffles, votes, matches, reductions, special registers (sass.md 2.4)."""

from __future__ import annotations

from typing import Literal

from warplens.core.program import Register, Special
from warplens.isa.dsl.lanes import F32, U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Data, Warp


@op("SHFL", pipe="lsu", text="{to} = {a} of lane {b} ({mode}, {c})", probe="__shfl_sync(~0u, a, b)")
def shfl(w: Warp, a: U32, b: U32, c: U32, *, mode: Literal["IDX", "UP", "DOWN", "BFLY"]) -> tuple[U32, Pred]:
    """PTX shfl: c holds the clamp in its low five bits and the segment mask in bits 8 to 12."""
    lane, amount = w.lane, b & 31
    segment = (c >> 8) & 31
    low = lane & segment
    high = low | (c & 31 & ~segment)
    if mode == "UP":
        source = lane - amount
        inside = source.s32() >= high.s32()
    else:
        source = {"IDX": low | (amount & ~segment), "DOWN": lane + amount, "BFLY": lane ^ amount}[mode]
        inside = source <= high
    return w.shuffle(a, inside.choose(source, lane)), inside


@op("VOTE", "VOTEU", pipe="alu", text="{to} = lanes whose {p} is true, {how}")
def vote(w: Warp, p: Pred, *, how: Literal["ANY", "ALL", "EQ"]) -> tuple[U32, Pred]:
    ballot = w.ballot(p)
    everyone = w.ballot(p | True)
    all_, none = ballot.eq(everyone), ballot.eq(0)
    return ballot, {"ANY": ~none, "ALL": all_, "EQ": all_ | none}[how]


@op("MATCH.ANY", pipe="xu", text="{to} = lanes with the same {a}")
def match_any(w: Warp, a: Register, *, size: Literal["32", "U64"] = "32") -> U32:
    return w.match_any(w.stored(a, 2 if size == "U64" else 1))


@op("MATCH.ALL", pipe="xu", text="{to} = all lanes, if their {a} is the same, else 0")
def match_all(w: Warp, a: Register, *, size: Literal["32", "U64"] = "32") -> tuple[U32, Pred]:
    mask = w.match_any(w.stored(a, 2 if size == "U64" else 1))
    everyone = w.ballot(mask.eq(mask))
    same = mask.eq(everyone)
    agreed = w.ballot(same).eq(everyone)
    return agreed.choose(everyone, 0), agreed


@op("REDUX", "CREDUX", pipe="xu", text="{to} = {a} of all lanes, {how}", probe="__reduce_add_sync(~0u, a)")
def redux(w: Warp, a: U32, *, how: Literal["AND", "OR", "XOR", "SUM", "MIN", "MAX"] = "AND", S32: bool) -> U32:
    names = {"SUM": "add", "MIN": "smin" if S32 else "min", "MAX": "smax" if S32 else "max"}
    return w.reduce(a, names.get(how, how.lower()))  # type: ignore[arg-type]


@op("CREDUX.F32", pipe="xu", probe="redux.sync.max.abs.NaN.f32",
    text="{to} = {a} of all lanes as floats, {how}{NAN:, a NaN if there is one|}")  # fmt: skip
def credux_f32(w: Warp, a: F32, *, how: Literal["MIN", "MAX", "MINABS", "MAXABS"], NAN: bool) -> U32:
    """Floats in the order of whole numbers; a NaN is at that end where it loses, or with .NAN wins."""
    value = a.abs() if how.endswith("ABS") else a
    bits, largest = value.u32(), how.startswith("MAX")
    key = bits.bit(31).choose(~bits, bits | 0x8000_0000)
    key = value.isnan().choose(key.like(0xFFFF_FFFF if largest == NAN else 0), key)
    found = w.reduce(key, "max" if largest else "min")
    word = found.bit(31).choose(found ^ 0x8000_0000, ~found).float_bits()
    return word.isnan().choose(word.nan(), word).u32()


@op("ELECT", pipe="alu", text="{to} = the lowest lane whose {p} is true, and whether it is this one")
def elect(w: Warp, p: Pred) -> tuple[U32, Pred]:
    lanes = w.ballot(p)
    lowest = 31 - (lanes & -lanes).clz()
    return lowest, w.lane.eq(lowest)


@op("R2UR", pipe="alu", ignores="BROADCAST", text="{to} = {a}, which is the same in all lanes")
def r2ur(w: Warp, a: U32) -> tuple[U32, Pred]:
    """The predicate, before BRA.DIV and BRA.CONV: which lanes differ from the first (by the lanes that an H200 counts
    as on in BRA.DIV, 2026-11-21)."""
    value = w.first(a)
    return value, a.ne(value)


@op("R2UR.OR", pipe="alu", text="{to} = {a}, which is the same in all lanes that are still to be served")
def r2ur_or(w: Warp, a: U32, differed: Pred) -> tuple[U32, Pred]:
    """The second word of an address: a lane differs from the first in one of the two."""
    value, differs = r2ur(w, a)
    return value, differed | differs


@op("P2R", "UP2UR", pipe="alu", text="{to} = {a}, of whose byte {byte} the bits {mask} are those of the predicates")
def p2r(w: Warp, file: Special, a: U32, mask: int, *, byte: Literal["B0", "B1", "B2", "B3"] = "B0") -> U32:
    place = 8 * int(byte[1])
    return (a & ~(mask << place)) | ((w.predicates(file, mask) & mask) << place)


@op("R2P", "UR2UP", pipe="alu", text="the predicates {mask} = bits of {a}")
def r2p(w: Warp, file: Special, a: U32, mask: int = 0x7F) -> None:
    w.set_predicates(file, a, mask)


@op("S2R", "S2UR", pipe="adu", text="{to} = {name}")
def s2r(w: Warp, name: Special) -> U32:
    return w.special(name.name)


@op("CS2R", "CS2UR", pipe="alu", text="{to} = {name}")
def cs2r(w: Warp, name: Special, *, size: Literal["32", "64"] = "64") -> Data:
    if name.name.startswith(("SR_CLOCK", "SR_GLOBALTIMER")) and size == "64":
        clock = w.clock()
        return Data([clock.low(), clock.high()])
    low = w.special(name.name)
    return Data([low] if size == "32" else [low, low.like(0)])
