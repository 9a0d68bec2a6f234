"""Control flow: branches, calls, convergence barriers, block barriers, the end (sass.md 4)."""

from __future__ import annotations

from typing import Literal

from warplens.core.program import Immediate, Label, Operand, Register
from warplens.isa.dsl.lanes import U32, U64, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Warp

STYLE = "RECONVERGENT RELIABLE"


@op("BRA", pipe="cbu", text="go to {target}")
def bra(w: Warp, target: Operand, label: Label | None = None, *, U: bool) -> None:
    if label is None:
        assert isinstance(target, Label)
        w.branch(target, uniform=U)
    else:
        assert isinstance(target, Register)
        w.branch(label, w.predicate(target), uniform=U)


@op("BRA.U.ANY", pipe="cbu", text="go to {target} if any lane would")
def bra_any(w: Warp, target: Operand, label: Label | None = None) -> None:
    if label is None:
        assert isinstance(target, Label)
        w.branch_any(target)
    else:
        assert isinstance(target, Register)
        w.branch_any(label, w.predicate(target))


@op("BRA.DIV", pipe="cbu", text="go to {target} unless all lanes of {mask} are here")
def bra_div(w: Warp, mask: Operand, target: Label | None = None) -> None:
    """On sm_75 the mask may be left out: all lanes."""
    w.branch_unless_mask(*_mask_and_target(w, mask, target), equal=False)


@op("BRA.CONV", pipe="cbu", text="go to {target} if all lanes of {mask} are here")
def bra_conv(w: Warp, mask: Operand, target: Label | None = None) -> None:
    w.branch_unless_mask(*_mask_and_target(w, mask, target), equal=True)


def _mask_and_target(w: Warp, mask: Operand, target: Label | None) -> tuple[U32, Label]:
    if target is None:
        assert isinstance(mask, Label)
        return U32(w.e, w.e.constant(U32, -1)), mask
    assert isinstance(mask, Register)
    (word,) = w.stored(mask, 1).words
    return ~word if mask.invert else word, target


@op("BRX", "BRXU", pipe="cbu", text="go to the address {place}")
def brx(w: Warp, place: U64, base: Label) -> None:
    w.jump(place.low(), place.high(), base.offset)


@op("CALL.REL", "CALL.ABS", pipe="cbu", text="call {target}", ignores="NOINC")
def call(w: Warp, target: Operand, other: Label | None = None) -> None:
    if isinstance(target, Label):
        w.call(target)
    elif isinstance(target, Immediate):  # a function of the driver, which linked code calls by its name
        w.jump(U32(w.e, w.e.constant(U32, target.bits)), U32(w.e, w.e.constant(U32, 0)))
    else:
        assert isinstance(target, Register)
        low, high = w.stored(target, 2).words
        w.jump(low, high)


@op("RET", pipe="cbu", text="return to the address {place}", ignores="REL ABS NODEC")
def ret(w: Warp, place: U64, section: Label | None = None) -> None:
    w.jump(place.low(), place.high())


@op("LEPC", pipe="alu", text="{to} = the address of {target}")
def lepc(w: Warp, target: Label | None = None) -> U64:
    """Without an operand (up to sm_89) its own address: the code after it subtracts the place of LEPC from it."""
    return U64(w.e, w.e.constant(U64, w.place if target is None else target.offset))


@op("EXIT", "KILL", pipe="cbu", text="the thread ends")
def exit_(w: Warp, when: Operand | None = None) -> None:
    """Of the active lanes those with `when`, as in BRA."""
    assert when is None or isinstance(when, Register)
    w.exit(None if when is None else w.predicate(when))


@op("BPT.TRAP", pipe="cbu", text="stop the kernel: trap or failed assertion")
def trap(w: Warp, code: int = 0) -> None:
    w.trap()


@op("NOP", pipe="none", text="nothing")
def nop(w: Warp) -> None:
    """Executes and counts, no more."""


# Reconvergence


@op("BSSY", pipe="cbu", text="{barrier}: the lanes here reconverge before {after}", ignores=STYLE)
def bssy(w: Warp, barrier: Register, after: Label) -> None:
    w.set_barrier(barrier)


@op("BSYNC", pipe="cbu", text="wait for the lanes of {barrier}", ignores=STYLE)
def bsync(w: Warp, barrier: Register) -> None:
    w.reconverge(barrier)


@op("BREAK", pipe="cbu", text="leave {barrier}: it no longer waits for these lanes", ignores=STYLE)
def break_(w: Warp, barrier: Register, p: Register | None = None) -> None:
    """Only the lanes whose `p` is true leave, where there is one."""
    w.leave(barrier, None if p is None else w.predicate(p))


@op("BMOV", pipe="cbu", text="{to} = the lanes of {barrier}", ignores="32")
def bmov(w: Warp, barrier: Register, mask: Register | None = None, *, CLEAR: bool) -> U32:
    """Saves a barrier's lanes (and clears it), or restores them."""
    old = w.barrier_mask(barrier)
    if mask is not None:
        w.set_barrier_mask(barrier, w.stored(mask, 1).words[0])
    elif CLEAR:
        w.set_barrier_mask(barrier, old.like(0))
    return old


@op("WARPSYNC", pipe="cbu", text="wait for the lanes {mask}")
def warpsync(w: Warp, mask: U32) -> None:
    w.converge(mask)


@op("WARPSYNC.EXCLUSIVE", pipe="cbu", text="wait for the lanes {mask}, go on with no others")
def warpsync_exclusive(w: Warp, mask: U32) -> None:
    """Stands before REDUX, which is over the lanes that are here: two tiles of a warp must not be here at once."""
    w.converge_by_mask(mask)


@op("WARPSYNC.ALL", pipe="cbu", text="wait for all lanes of the warp")
def warpsync_all(w: Warp) -> None:
    w.converge(None)


@op("WARPSYNC.COLLECTIVE", pipe="cbu", text="wait for the lanes {mask}, do the next together, go to {target}")
def warpsync_collective(w: Warp, mask: U32, target: Label) -> None:
    w.collect(mask, target)


@op("WARPSYNC.COLLECTIVE.ALL", pipe="cbu", text="wait for all lanes, do the next together, go to {target}")
def warpsync_collective_all(w: Warp, target: Label) -> None:
    w.collect(U32(w.e, w.e.constant(U32, -1)), target)


@op("ENDCOLLECTIVE", pipe="cbu", text="end of what the lanes do together")
def end_collective(w: Warp) -> None:
    w.end_collective()


@op("YIELD", pipe="cbu", text="let other lanes run")
def yield_(w: Warp) -> None:
    w.yields()


@op("NANOSLEEP", pipe="cbu", text="sleep for about {time} ns", ignores="WARP SYNCS")
def nanosleep(w: Warp, time: U32) -> None:
    """Time passes only in the model; other lanes run meanwhile."""
    w.yields()


@op("PMTRIG", pipe="cbu", text="trigger a profiling event")
def pmtrig(w: Warp, event: int = 0) -> None:
    """No effect on data."""


# The block


@op("BAR.SYNC", pipe="adu", text="wait for the block (barrier {barrier})", ignores="DEFER_BLOCKING",
    probe="__syncthreads()")  # fmt: skip
def bar_sync(w: Warp, barrier: Operand, threads: Operand | None = None) -> None:
    w.block_barrier(*_barrier(w, barrier, threads))


@op("BAR.ARV", pipe="adu", text="tell barrier {barrier} of this warp, without waiting", ignores="DEFER_BLOCKING")
def bar_arv(w: Warp, barrier: Operand, threads: Operand | None = None) -> None:
    w.block_barrier(*_barrier(w, barrier, threads), waits=False)


@op("BAR.RED", pipe="adu", text="wait for the block (barrier {barrier}), {how} of {p}", ignores="DEFER_BLOCKING")
def bar_red(
    w: Warp, barrier: U32, threads: Operand, p: Register | None = None, *, how: Literal["POPC", "AND", "OR"]
) -> None:
    """The count of threads may be left out."""
    reduces: dict[str, Literal["popc", "and", "or"]] = {"POPC": "popc", "AND": "and", "OR": "or"}
    condition, count = (threads, None) if p is None else (p, _count(w, threads))
    assert isinstance(condition, Register)
    w.block_barrier(barrier, count, reduces=reduces[how], p=w.predicate(condition))


def _barrier(w: Warp, barrier: Operand, threads: Operand | None) -> tuple[U32 | int, U32 | int | None]:
    """The barrier's number and its count.

    Where both are registers they are one, with the number in bits 3:0 and the count in bits 27:16; a count of 0
    means all threads (so ptxas prepares the register).
    """
    if isinstance(barrier, Register) and isinstance(threads, Register):
        (packed,) = w.stored(barrier, 1).words
        return packed & 0xF, (packed >> 16) & 0xFFF
    number = w.stored(barrier, 1).words[0] if isinstance(barrier, Register) else barrier.bits  # type: ignore[union-attr]
    return number, _count(w, threads)


def _count(w: Warp, threads: Operand | None) -> U32 | int | None:
    """The number of threads that a barrier names; None: all of the block."""
    if threads is None:
        return None
    return w.stored(threads, 1).words[0] if isinstance(threads, Register) else threads.bits  # type: ignore[union-attr]


@op("B2R.RESULT", pipe="adu", text="{to} = the result of the reducing barrier")
def b2r(w: Warp) -> tuple[U32, Pred]:
    return w.barrier_result()
