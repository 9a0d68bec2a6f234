"""Bulk copies and the tensor memory accelerator (TMA): cp.async.bulk, cp.async.bulk.tensor, reductions, prefetches.

An instruction is executed once a warp; its operands are runs of uniform registers.  A word holds in its low half the
size in units of 16 bytes, or the offsets of an im2col load, and in its high half the blocks of a multicast.  Copies are
done at once, also for the mbarrier that waits for their bytes; so groups have nothing to wait for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast

from warplens.core.program import Address, Register
from warplens.isa.barrier import after_bytes
from warplens.isa.dsl.lanes import U32, U64
from warplens.isa.dsl.op import op
from warplens.isa.dsl.operation_records import BulkCopy, BulkReduction, TensorCopy
from warplens.isa.dsl.warp_interface import AtomicOperation, Data, Warp

Axes = Literal["1D", "2D", "3D", "4D", "5D"]
Operation = Literal["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"]
Number = Literal["32", "S32", "U64", "S64", "F16", "BF16", "F32", "F64"]
UNIT = 4  # log2 of the bytes in which sizes count


def run(w: Warp, at: Address, words: int) -> Data:
    """The words in uniform registers that an operand in brackets stands for."""
    assert at.uniform is not None
    return w.stored(at.uniform, words)


def low_half(word: U32) -> U32:
    return word & 0xFFFF


def high_half(word: U32) -> U32:
    return word >> 16


def reduction(operation: str, number: str) -> BulkReduction:
    return BulkReduction(operation.lower(), "u32" if number == "32" else number.lower())  # type: ignore[arg-type]


# Without a tensor map


@op("UBLKCP.S.G", pipe="uniform", text="copy {size} times 16 bytes from global memory at {source} to shared at {to}")
def copy_in(w: Warp, to: Address, source: Address, size: U32, *, MULTICAST: bool) -> None:
    place, barrier = run(w, to, 2).words
    blocks = high_half(size) if MULTICAST else None
    w.bulk_copy(BulkCopy("shared", "global"), Data([place]), run(w, source, 2), low_half(size) << UNIT, barrier, blocks)


@op("UBLKCP.G.S", pipe="uniform", text="copy {size} times 16 bytes from shared memory at {source} to global at {to}")
def copy_out(w: Warp, to: Address, source: Address, size: U32) -> None:
    w.bulk_copy(BulkCopy("global", "shared"), run(w, to, 2), run(w, source, 1), low_half(size) << UNIT)


@op("UBLKCP.S.S", pipe="uniform", text="copy {size} times 16 bytes of shared memory from {source} to {to}")
def copy_across(w: Warp, to: Address, source: Address, size: U32) -> None:
    place, barrier = run(w, to, 2).words
    w.bulk_copy(BulkCopy("shared", "shared"), Data([place]), run(w, source, 1), low_half(size) << UNIT, barrier)


@op("UBLKRED.G.S.{operation}", pipe="uniform", ignores="RN",
    text="global memory at {to}: {operation} of {size} times 16 bytes of shared memory at {source}")  # fmt: skip
def reduce_out(
    w: Warp, to: Address, source: Address, size: U32, *, operation: Operation, number: Number = "32"
) -> None:
    copy = BulkCopy("global", "shared", reduction(operation, number))
    w.bulk_copy(copy, run(w, to, 2), run(w, source, 1), low_half(size) << UNIT)


@op("UBLKRED.S.S.{operation}", pipe="uniform", ignores="RN",
    text="shared memory at {to}: {operation} of {size} times 16 bytes at {source}")  # fmt: skip
def reduce_across(
    w: Warp, to: Address, source: Address, size: U32, *, operation: Operation, number: Number = "32"
) -> None:
    place, barrier = run(w, to, 2).words
    copy = BulkCopy("shared", "shared", reduction(operation, number))
    w.bulk_copy(copy, Data([place]), run(w, source, 1), low_half(size) << UNIT, barrier)


@op("UBLKPF.L2", pipe="uniform", text="L2 is asked for {size} times 16 bytes from {at}")
def ublkpf(w: Warp, at: Address, size: U32) -> None:
    """A hint (cp.async.bulk.prefetch): no result depends on it."""


# With one


@op("UTMALDG.{axes}", pipe="uniform", text="copy the box at {box} of the tensor that {map} describes to shared memory")
def utmaldg(
    w: Warp, box: Address, map: Address, word: Register | None = None, *, axes: Axes, IM2COL: bool, MULTICAST: bool
) -> None:
    """The box: its place in shared memory, the mbarrier, and its coordinates."""
    copy = TensorCopy("load", int(axes[0]), IM2COL)
    shared, barrier, *at = run(w, box, 2 + copy.axes).words
    given = w.stored(word, 1).words[0] if word else None
    offsets = low_half(given) if given and IM2COL else None
    blocks = high_half(given) if given and MULTICAST else None
    w.tensor_copy(copy, run(w, map, 2), Data(at), shared, offsets, barrier, blocks)


@op("UTMASTG.{axes}", pipe="uniform", text="copy from shared memory to the box at {box} of the tensor of {map}")
def utmastg(w: Warp, box: Address, map: Address, *, axes: Axes, IM2COL: bool) -> None:
    store_box(w, TensorCopy("store", int(axes[0]), IM2COL), box, map)


@op("UTMAREDG.{axes}.{operation}", pipe="uniform",
    text="the box at {box} of the tensor of {map}: {operation} of numbers in shared memory")  # fmt: skip
def utmaredg(w: Warp, box: Address, map: Address, *, axes: Axes, operation: Operation, IM2COL: bool) -> None:
    found = BulkReduction(cast(Literal["add"], operation.lower()))
    store_box(w, TensorCopy("store", int(axes[0]), IM2COL, found), box, map)


def store_box(w: Warp, copy: TensorCopy, box: Address, map: Address) -> None:
    """The box: its place in shared memory and its coordinates."""
    shared, *at = run(w, box, 1 + copy.axes).words
    w.tensor_copy(copy, run(w, map, 2), Data(at), shared)


@op("UTMAPF.L2.{axes}", pipe="uniform", text="L2 is asked for the box at {box} of the tensor that {map} describes")
def utmapf(w: Warp, box: Address, map: Address, word: Register | None = None, *, axes: Axes, IM2COL: bool) -> None:
    """A hint (cp.async.bulk.prefetch.tensor): no result depends on it."""


@op("UTMACMDFLUSH", pipe="uniform", text="the bulk copies so far are one group")
def utmacmdflush(w: Warp) -> None:
    """Those that write global memory, which are done already."""
    w.commit_copies()


@op("UTMACCTL.PF", "UTMACCTL.IV", pipe="uniform", text="the tensor map at {map} is fetched, or read anew")
def utmacctl(w: Warp, map: Address) -> None:
    """Maps are read at each use."""


# Asynchronous stores (st.async, red.async), whose bytes an mbarrier counts: a pair of registers has place and barrier


@op("STAS", pipe="lsu", text="shared memory at {at} = {value}, {size}, and the barrier of {at} counts it")
def stas(w: Warp, at: Address, value: Register, *, size: Literal["32", "64", "128"] = "32") -> None:
    bytes = int(size) // 8
    w.store("shared", place_of(at), w.stored(value, bytes // 4), bytes)
    count(w, at, bytes)


@op("REDAS.{operation}", pipe="lsu",
    text="shared memory at {at}: reduction {operation} of {value}, and the barrier of {at} counts it")  # fmt: skip
def redas(
    w: Warp, at: Address, value: Register, *, operation: Operation, number: Literal["32", "S32", "64"] = "32"
) -> None:
    words = 2 if number == "64" else 1
    kind: Literal["s32", "u32", "u64"] = "u64" if words == 2 else "s32" if number == "S32" else "u32"
    done = AtomicOperation(cast(Literal["add"], operation.lower()), kind, returns=False)
    w.atomic("shared", place_of(at), w.stored(value, words), done)
    count(w, at, 4 * words)


def place_of(at: Address) -> Address:
    return replace(at, wide=False)


def count(w: Warp, at: Address, bytes: int) -> None:
    """Each lane's bytes arrive at its barrier."""
    assert at.base is not None
    barrier = Address(replace(at.base, index=at.base.index + 1), None, 0)
    w.update(barrier, U64(w.e, w.e.constant(U64, bytes)), after_bytes)
