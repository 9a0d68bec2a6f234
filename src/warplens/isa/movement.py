"""Moves, selections and byte permutations (sass.md 2.1)."""

from __future__ import annotations

from typing import Literal

from warplens.isa.dsl.lanes import U32, U64, Pred
from warplens.isa.dsl.op import op


@op("MOV", "UMOV", pipe="alu", probe="a")
def mov(a: U32) -> U32:
    return a


@op("MOV.64", "UMOV.64", pipe="alu")
def mov_64(a: U64) -> U64:
    return a


@op("RPCMOV.32", pipe="alu")
def rpcmov(a: U32) -> U32:
    """To and from the place to return to, where sm_120 keeps a register while it reads the size of a cluster."""
    return a


@op("SEL", "USEL", pipe="alu", probe="p ? a : b")
def sel(a: U32, b: U32, p: Pred) -> U32:
    return p.choose(a, b)


@op("SEL.64", "USEL.64", pipe="alu")
def sel_64(a: U64, b: U64, p: Pred) -> U64:
    return p.choose(a, b)


@op("PRMT", "UPRMT", pipe="alu", probe="__byte_perm(a, b, 0x5410)", text="{to} = bytes {selector} of {b}:{a}")
def prmt(a: U32, selector: U32, b: U32) -> U32:
    """Nibble k of the selector names byte k of the result: one of b:a's eight, or its sign in every bit."""
    word = a.like(0)
    for position in range(4):
        choice = selector >> (4 * position)
        byte = nth_byte(a, b, choice)
        spread = (byte.bit(7)).choose(byte.like(0xFF), 0)
        word = word | (choice.bit(3).choose(spread, byte) << (8 * position))
    return word


def nth_byte(a: U32, b: U32, number: U32) -> U32:
    """Byte `number`, modulo 8, of the pair b:a."""
    return (a.join(b) >> ((number & 7) << 3).wide()).low() & 0xFF


Mode = Literal["F4E", "B4E", "RC8", "ECL", "ECR", "RC16"]


@op("PRMT", pipe="alu", probe="prmt_f4e(u, v, w); prmt_b4e(u, v, w); prmt_rc8(u, v, w); prmt_ecl(u, v, w); "
    "prmt_ecr(u, v, w); prmt_rc16(u, v, w)", text="{to} = bytes of {b}:{a}, {mode} {selector}")  # fmt: skip
def prmt_mode(a: U32, selector: U32, b: U32, *, mode: Mode) -> U32:
    """The modes of PTX prmt; n are the low two bits of the selector.

    F4E and B4E take four bytes upwards and downwards from n, RC8 byte n four times, RC16 half word n & 1 twice;
    ECL and ECR keep the bytes above and below n and put byte n in the place of the others.
    """
    n = selector & 3
    word = a.like(0)
    for k in range(4):
        upwards = {"F4E": n + k, "B4E": n - k, "RC8": n}
        kept = {"ECL": n.max(k), "ECR": n.min(k), "RC16": (n & 1) * 2 + k % 2}
        word = word | (nth_byte(a, b, (upwards | kept)[mode]) << (8 * k))
    return word
