"""Moves, selections and byte permutations (sass.md 2.1)."""

from __future__ import annotations

from warplens.isa._lanes import U32, U64, Pred
from warplens.isa._op import op


@op("MOV", "UMOV", pipe="alu", probe="a")
def mov(a: U32) -> U32:
    return a


@op("MOV.64", "UMOV.64", pipe="alu")
def mov_64(a: U64) -> U64:
    return a


@op("SEL", "USEL", pipe="alu", probe="p ? a : b")
def sel(a: U32, b: U32, p: Pred) -> U32:
    return p.choose(a, b)


@op("SEL.64", "USEL.64", pipe="alu")
def sel_64(a: U64, b: U64, p: Pred) -> U64:
    return p.choose(a, b)


@op("PRMT", "UPRMT", pipe="alu", probe="__byte_perm(a, b, 0x5410)", says="{to} = bytes {selector} of {b}:{a}")
def prmt(a: U32, selector: U32, b: U32) -> U32:
    """Nibble k of the selector names byte k of the result: one of b:a's eight, or its sign in every bit."""
    pair = a.join(b)
    word = a.like(0)
    for position in range(4):
        choice = selector >> (4 * position)
        byte = (pair >> ((choice & 7) << 3).wide()).low() & 0xFF
        spread = (byte.bit(7)).choose(byte.like(0xFF), 0)
        word = word | (choice.bit(3).choose(spread, byte) << (8 * position))
    return word
