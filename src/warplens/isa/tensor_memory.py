"""Tensor memory of sm_100 (tcgen05): allocation, and loads and stores of a warp.

They are done at once; so waits (NOP and FENCE.VIEW.ASYNC.T) have nothing to wait for.
"""

from __future__ import annotations

from typing import Literal

from warplens.core.program import Address, Register
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.operation_records import Family, TensorAccess, TensorMemoryCopy, TensorProduct
from warplens.isa.dsl.warp_interface import Data, Warp

Shape = Literal[
    "32dp32bit", "16dp64bit", "16dp128bit", "16dp256bit", "16dp32bit_t0_t15", "16dp32bit_t16_t31"
]  # fmt: skip
Count = Literal["x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"]


def run(w: Warp, at: Address, words: int) -> Data:
    """The words in uniform registers that an operand in brackets stands for."""
    return w.stored(at.uniform or Register("UR", -1), words)


def access(shape: Shape, count: Count, packed: bool) -> TensorAccess:
    return TensorAccess(shape, int(count[1:]), packed)


@op("LDTM", pipe="none", text="{to} = tensor memory at {at}, {shape} {count}")
def ldtm(
    w: Warp, at: Address, old: Register, *, shape: Shape = "32dp32bit", count: Count = "x1", PACK16BIT: bool
) -> Data:
    """tcgen05.ld; `old`: the registers that it writes, half of whose lanes some shapes leave as they are."""
    form = access(shape, count, PACK16BIT)
    return w.tensor_load(form, at, w.stored(old, form.words))


@op("STTM", pipe="none", text="tensor memory at {at} = {data}, {shape} {count}")
def sttm(
    w: Warp, at: Address, data: Register, *, shape: Shape = "32dp32bit", count: Count = "x1", EXPAND16BIT: bool
) -> None:
    """tcgen05.st."""
    form = access(shape, count, EXPAND16BIT)
    w.tensor_store(form, at, w.stored(data, form.words))


# Allocation: tcgen05.alloc and dealloc are the compiler's code around these


@op("UTCATOMSWS.FIND_AND_SET.ALIGN", pipe="uniform", text="{to} = first of {slots} times 32 columns of tensor memory")
def find_and_set(w: Warp, slots: U32) -> tuple[Pred, U32]:
    """Also whether there were as many."""
    return w.allocate_tensor(slots)


@op("UTCATOMSWS.2CTA.FIND_AND_SET.ALIGN", pipe="uniform",
    text="{to} = first of {slots} times 32 columns of tensor memory, in both blocks of the pair")  # fmt: skip
def find_and_set_pair(w: Warp, slots: U32) -> tuple[Pred, U32]:
    return w.allocate_tensor(slots, pair=True)


@op("UTCATOMSWS.AND", pipe="uniform", text="keep the columns of tensor memory that {mask} names, 32 a bit")
def keep_slots(w: Warp, mask: U32) -> U32:
    return w.keep_tensor(mask)


@op("UVIRTCOUNT.DEALLOC.SMPOOL", pipe="uniform", text="this block allocates no more tensor memory")
def relinquish(w: Warp, count: int) -> None:
    """tcgen05.relinquish_alloc_permit; that it is kept, the code around it sees to."""


# Products: once a warp, with operands in uniform registers


def product(
    w: Warp, kind: TensorProduct, a: Register | Address, b: Register, d: Address, form: Address,
    extra: Register | Address, adds: Pred,
) -> None:  # fmt: skip
    """form: where the metadata of a sparse A lie, and the instruction descriptor; `extra`: where the scales lie, or
    lanes that are left."""
    metadata, descriptor = run(w, form, 2).words
    none = Data([descriptor.like(0)] * 8)
    if isinstance(extra, Address):
        scales, lanes = run(w, extra, 2), none
    else:
        scales, lanes = Data(none.words[:2]), w.stored(extra, 8 if kind.layout == "pair" else 4)
    left = a if isinstance(a, Address) else w.stored(a, 2)
    given = Data([descriptor, metadata, *scales.words, *lanes.words])
    w.tensor_product(kind, left, w.stored(b, 2), d, given, adds)


PRODUCT = "{d} = {a} * {b}, plus {d} if {adds}, matrices by the descriptor at {form}"
HALVES, TINY, WHOLE, SCALED = "16-bit floats or TF32", "floats of 8 to 4 bits", "bytes", "scaled floats of 4 bits"


@op("UTCHMMA", pipe="uniform", text=f"{PRODUCT}, {HALVES}")
def utchmma(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, lanes: Register, adds: Pred,
    halvings: int = 0,
) -> None:  # fmt: skip
    """tcgen05.mma, kind::f16 and tf32."""
    product(w, TensorProduct("halves", halvings=halvings), a, b, d, form, lanes, adds)


@op("UTCHMMA.2CTA", pipe="uniform", text=f"{PRODUCT}, {HALVES}, of a pair of blocks")
def utchmma_pair(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, lanes: Register, adds: Pred,
    halvings: int = 0,
) -> None:  # fmt: skip
    """cta_group::2."""
    product(w, TensorProduct("halves", layout="pair", halvings=halvings), a, b, d, form, lanes, adds)


@op("UTCQMMA", pipe="uniform", text=f"{PRODUCT}, {TINY}")
def utcqmma(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, extra: Register | Address,
    adds: Pred,
) -> None:  # fmt: skip
    """kind::f8f6f4, or mxf8f6f4 with scales."""
    blocks = 1 if isinstance(extra, Address) else 0
    product(w, TensorProduct("bytes", blocks), a, b, d, form, extra, adds)


@op("UTCQMMA.2CTA", pipe="uniform", text=f"{PRODUCT}, {TINY}, of a pair of blocks")
def utcqmma_pair(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, extra: Register | Address,
    adds: Pred,
) -> None:  # fmt: skip
    blocks = 1 if isinstance(extra, Address) else 0
    product(w, TensorProduct("bytes", blocks, "pair"), a, b, d, form, extra, adds)


@op("UTCIMMA", pipe="uniform", text=f"{PRODUCT}, {WHOLE}")
def utcimma(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, lanes: Register, adds: Pred
) -> None:  # fmt: skip
    """kind::i8."""
    product(w, TensorProduct("wholes"), a, b, d, form, lanes, adds)


@op("UTCIMMA.2CTA", pipe="uniform", text=f"{PRODUCT}, {WHOLE}, of a pair of blocks")
def utcimma_pair(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, lanes: Register, adds: Pred
) -> None:  # fmt: skip
    product(w, TensorProduct("wholes", layout="pair"), a, b, d, form, lanes, adds)


@op("UTCOMMA", pipe="uniform", text=f"{PRODUCT}, {SCALED}")
def utcomma(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, scales: Address, adds: Pred,
    *, blocks: Literal["2X", "4X"] = "2X",
) -> None:  # fmt: skip
    """kind::mxf4 and mxf4nvf4."""
    product(w, TensorProduct("nibbles", int(blocks[0])), a, b, d, form, scales, adds)


@op("UTCOMMA.2CTA", pipe="uniform", text=f"{PRODUCT}, {SCALED}, of a pair of blocks")
def utcomma_pair(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, scales: Address, adds: Pred,
    *, blocks: Literal["2X", "4X"] = "2X",
) -> None:  # fmt: skip
    product(w, TensorProduct("nibbles", int(blocks[0]), "pair"), a, b, d, form, scales, adds)


# .ws, which keeps B for further products


def stationary(
    w: Warp, family: Family, a: Register | Address, b: Register, d: Address, form: Address, adds: Pred
) -> None:  # fmt: skip
    product(w, TensorProduct(family, layout="stationary"), a, b, d, form, Register("UR", -1), adds)


@op("UTCHMMA.WS", pipe="uniform", text=f"{PRODUCT}, {HALVES}")
def utchmma_ws(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, adds: Pred
) -> None:  # fmt: skip
    stationary(w, "halves", a, b, d, form, adds)


@op("UTCQMMA.WS", pipe="uniform", text=f"{PRODUCT}, {TINY}")
def utcqmma_ws(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, adds: Pred
) -> None:  # fmt: skip
    stationary(w, "bytes", a, b, d, form, adds)


@op("UTCIMMA.WS", pipe="uniform", text=f"{PRODUCT}, {WHOLE}")
def utcimma_ws(
    w: Warp, a: Register | Address, b: Register, d: Address, form: Address, adds: Pred
) -> None:  # fmt: skip
    stationary(w, "wholes", a, b, d, form, adds)


# Copies from shared memory


CopyShape = Literal[
    "128dp256bit", "4dp256bit", "128dp128bit", "2x64dp128bit_lw02_lw13", "2x64dp128bit_lw01_lw23", "4x32dp128bit"
]  # fmt: skip


@op("UTCCP.T.S", pipe="uniform", text="tensor memory at {to} = rows of shared memory by {source}, {shape}")
def utccp(w: Warp, to: Address, source: Register, *, shape: CopyShape = "128dp256bit") -> None:
    """tcgen05.cp."""
    w.copy_to_tensor(TensorMemoryCopy(shape), to, w.stored(source, 2))


@op("UTCCP.T.S.2CTA", pipe="uniform", text="tensor memory at {to} = rows of shared memory by {source}, in both blocks")
def utccp_pair(w: Warp, to: Address, source: Register, *, shape: CopyShape = "128dp256bit") -> None:
    w.copy_to_tensor(TensorMemoryCopy(shape, pair=True), to, w.stored(source, 2))


@op("UTCBAR", pipe="uniform", ignores="2CTA", text="when the products so far are done, arrive at the barrier at {at}")
def utcbar(w: Warp, at: Address, unused: Register) -> None:
    """tcgen05.commit."""
    w.commit_tensor(at)


@op("UTCBAR.MULTICAST", pipe="uniform", ignores="2CTA",
    text="when the products so far are done, arrive at the barriers at {at} of the blocks {blocks}")  # fmt: skip
def utcbar_multicast(w: Warp, at: Address, unused: Register, blocks: U32) -> None:
    w.commit_tensor(at, blocks & 0xFFFF)
