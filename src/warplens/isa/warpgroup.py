"""Matrix products by a warpgroup, four warps: HGMMA, QGMMA, IGMMA, BGMMA (wgmma), what orders them, and setmaxnreg.

Products are done when they are issued: the compiler lets no instruction read accumulators before the wait for their
group.
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from warplens.core.program import Register, Special
from warplens.isa.dsl.lanes import TRUE, Pred
from warplens.isa.dsl.op import Choice, op
from warplens.isa.dsl.operation_records import GroupProduct
from warplens.isa.dsl.warp_interface import Data, Warp
from warplens.isa.numerics.float_products import PLACES, Input, Result, Tiny

TINY_PLACES = 13  # that sums of 8-bit floats keep, and a float result after its first digit (read on an H200)
NO_METADATA = Register("R", -1)
SUMS = "{to} = {a} * {b} + {c}, matrices {form.shape}"
SPARSE_SUMS = "{to} = {a} * {b} + {c}, {a} sparse by {metadata}, {form.shape}"


class GroupShape(Choice):
    """Rows, columns and depth, 64x16x16."""

    choices: ClassVar = tuple(f"64x{n}x{k}" for n in range(8, 257, 8) for k in (8, 16, 32, 64, 256))
    __slots__ = ()


class FloatModifiers(NamedTuple):
    shape: GroupShape
    result: Result
    kind: Input = "F16"


class TinyModifiers(NamedTuple):
    shape: GroupShape
    result: Result
    x: Tiny
    y: Tiny


class IntegerModifiers(NamedTuple):
    shape: GroupShape
    x: Literal["S8", "U8"]
    y: Literal["S8", "U8"]
    SAT: bool


def columns(shape: str) -> int:
    return int(shape.split("x")[1])


def changes(a: Register, b: Register) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """Which of the matrices are negated, and which transposed."""
    parts = {*a.part.split("."), *b.part.split(".")}
    return (a.negate or "negA" in parts, "negB" in parts), ("tnspA" in parts, "tnspB" in parts)


def float_form(form: FloatModifiers, a: Register, b: Register, selector: int | None = None) -> GroupProduct:
    negated, transposed = changes(a, b)
    kinds = form.kind, form.kind
    return GroupProduct(
        "float", kinds, form.result, columns(form.shape), places=PLACES, selector=selector, registers=a.file == "R",
        negated=negated, transposed=transposed,
    )  # fmt: skip


def tiny_form(form: TinyModifiers, a: Register, b: Register, selector: int | None = None) -> GroupProduct:
    negated, _ = changes(a, b)
    return GroupProduct(
        "float", (form.x, form.y), form.result, columns(form.shape), places=TINY_PLACES, digits=TINY_PLACES + 1,
        selector=selector, registers=a.file == "R", negated=negated,
    )  # fmt: skip


def integer_form(form: IntegerModifiers, a: Register, selector: int | None = None) -> GroupProduct:
    return GroupProduct(
        "integer", (form.x, form.y), "S32", columns(form.shape), selector=selector, registers=a.file == "R",
        saturates=form.SAT,
    )  # fmt: skip


def product(
    w: Warp, form: GroupProduct, a: Register, b: Register, c: Register, scale: Pred, metadata: Register = NO_METADATA
) -> Data:
    """`scale`: whether the addends count."""
    left = w.stored(a, 4 if form.registers else 2)
    (indices,) = w.stored(metadata, 1).words
    return w.group_product(form, left, w.stored(b, 2), w.stored(c, form.words), indices, scale)


@op("HGMMA", pipe="tensor", text=f"{SUMS}, {{form.kind}} summed as {{form.result}}")
def hgmma(w: Warp, a: Register, b: Register, c: Register, scale: Pred = TRUE, *, form: FloatModifiers) -> Data:
    return product(w, float_form(form, a, b), a, b, c, scale)


@op("HGMMA.SP", pipe="tensor", text=f"{SPARSE_SUMS}, {{form.kind}}")
def hgmma_sp(
    w: Warp,
    a: Register,
    b: Register,
    c: Register,
    scale: Pred,
    metadata: Register,
    selector: int,
    *,
    form: FloatModifiers,
) -> Data:
    return product(w, float_form(form, a, b, selector), a, b, c, scale, metadata)


@op("QGMMA.{result}.{x}.{y}", pipe="tensor", text=f"{SUMS}, {{form.x}} and {{form.y}} summed as {{form.result}}")
def qgmma(w: Warp, a: Register, b: Register, c: Register, scale: Pred = TRUE, *, form: TinyModifiers) -> Data:
    return product(w, tiny_form(form, a, b), a, b, c, scale)


@op("QGMMA.SP.{result}.{x}.{y}", pipe="tensor", text=f"{SPARSE_SUMS}, {{form.x}} and {{form.y}}")
def qgmma_sp(
    w: Warp, a: Register, b: Register, c: Register, scale: Pred, metadata: Register, *, form: TinyModifiers
) -> Data:
    return product(w, tiny_form(form, a, b, 0), a, b, c, scale, metadata)


@op("IGMMA.{x}.{y}", pipe="tensor", text=f"{SUMS}, {{form.x}} and {{form.y}}")
def igmma(w: Warp, a: Register, b: Register, c: Register, scale: Pred = TRUE, *, form: IntegerModifiers) -> Data:
    return product(w, integer_form(form, a), a, b, c, scale)


@op("IGMMA.SP.{x}.{y}", pipe="tensor", text=f"{SPARSE_SUMS}, {{form.x}} and {{form.y}}")
def igmma_sp(
    w: Warp, a: Register, b: Register, c: Register, scale: Pred, metadata: Register, *, form: IntegerModifiers
) -> Data:
    return product(w, integer_form(form, a, 0), a, b, c, scale, metadata)


@op("BGMMA.AND.POPC", pipe="tensor", text="{to} = ones of {a} AND {b}, added to {c}, matrices {shape} of bits")
def bgmma(w: Warp, a: Register, b: Register, c: Register, scale: Pred = TRUE, *, shape: GroupShape) -> Data:
    form = GroupProduct("bits", ("B1", "B1"), "S32", columns(shape), registers=a.file == "R")
    return product(w, form, a, b, c, scale)


# Order


@op("WARPGROUP.ARRIVE", pipe="adu", text="the products that follow see the registers written so far")
def warpgroup_arrive(w: Warp) -> None:
    """wgmma.fence."""


@op("WARPGROUP.DEPBAR.LE", pipe="adu", text="wait until at most {groups} groups of products are not done")
def warpgroup_depbar(w: Warp, group: Special, groups: int) -> None:
    """wgmma.wait_group.  It ends for no warp before all four have issued the products that it waits for."""
    w.wait_for_products(groups)


# Registers that a warp hands to the others of its block (setmaxnreg)


@op("USETMAXREG.DEALLOC.CTAPOOL", pipe="none", text="keep {count} registers a thread, and give back the others")
def usetmaxreg_dealloc(w: Warp, count: int) -> None:
    w.give_registers(count)


@op("USETMAXREG.TRY_ALLOC.CTAPOOL", pipe="none", text="{to} = whether a thread now has {count} registers, after a wait")
def usetmaxreg_alloc(w: Warp, count: int) -> Pred:
    """Waits until other warps have given back enough."""
    return w.take_registers(count)
