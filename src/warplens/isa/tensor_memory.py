"""Tensor memory of sm_100 (tcgen05): allocation, and loads and stores of a warp.

They are done at once; so waits (NOP and FENCE.VIEW.ASYNC.T) have nothing to wait for.
"""

from __future__ import annotations

from typing import Literal

from warplens.core.program import Address, Register
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.operation_records import TensorAccess
from warplens.isa.dsl.warp_interface import Data, Warp

Shape = Literal[
    "32dp32bit", "16dp64bit", "16dp128bit", "16dp256bit", "16dp32bit_t0_t15", "16dp32bit_t16_t31"
]  # fmt: skip
Count = Literal["x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"]


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


@op("UTCATOMSWS.AND", pipe="uniform", text="keep the columns of tensor memory that {mask} names, 32 a bit")
def keep_slots(w: Warp, mask: U32) -> U32:
    return w.keep_tensor(mask)


@op("UVIRTCOUNT.DEALLOC.SMPOOL", pipe="uniform", text="this block allocates no more tensor memory")
def relinquish(w: Warp, count: int) -> None:
    """tcgen05.relinquish_alloc_permit; that it is kept, the code around it sees to."""
