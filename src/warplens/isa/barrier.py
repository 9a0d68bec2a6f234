"""Barriers in shared memory (mbarrier, cuda::barrier), with transaction counts, and cluster barriers.

An mbarrier is 8 bytes: bit 63 the phase, below it the arrivals still missing as 2^n - missing, so that the last one
makes 0; and the number of threads as 2^n - threads, with which the next phase starts.  Where these stand was read off
the code that the compiler makes of mbarrier.init and mbarrier.pending_count.  From sm_90 on, between them: the bytes
that have arrived less those that are expected (`barrier words` of measurements/h200/tensor_copies.csv).
"""

from __future__ import annotations

from warplens.core.program import Address, Register
from warplens.isa.dsl.lanes import U32, U64, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.warp_interface import Warp

PHASE, MISSING, LEFT, THREADS = 63, 43, 21, 1  # the lowest bit of each, from sm_90 on
MOST, MOST_BYTES = (1 << 20) - 1, (1 << 21) - 1


def arrive(w: Warp, at: Address, count: U32) -> U64:
    return w.update(at, count.wide(), after_arrival)


def after_arrival(old: U64, count: U64) -> U64:
    return after(old, count)


def after_leaving(old: U64, count: U64) -> U64:
    """The threads arrive, and are not among those of the next phase."""
    return after(old, count, leaving=count)


def after_bytes(old: U64, bytes: U64) -> U64:
    """So many bytes have arrived."""
    return after(old, bytes & 0, bytes)


def after_expecting(old: U64, bytes: U64) -> U64:
    """The phase waits for so many more bytes."""
    return after(old, bytes & 0, -bytes)


def after_arrival_expecting(old: U64, bytes: U64) -> U64:
    """A thread arrives, and the phase waits for so many more bytes."""
    return after(old, one_of(bytes), -bytes)


def after_leaving_expecting(old: U64, bytes: U64) -> U64:
    return after(old, one_of(bytes), -bytes, one_of(bytes))


def one_of(value: U64) -> U64:
    return value.like(1)


def after(old: U64, arrivals: U64, bytes: U64 | int = 0, leaving: U64 | int = 0) -> U64:
    """The phase is over, and the next begins, when no arrival and no byte is missing."""
    threads = ((old >> THREADS) + leaving) & MOST
    missing = ((old >> MISSING) + arrivals) & MOST
    left = ((old >> LEFT) + bytes) & MOST_BYTES
    over = missing.eq(0) & left.eq(0)
    phase = (old >> PHASE) ^ over.u64()
    missing = over.choose(threads, missing)
    return (phase << PHASE) | (missing << MISSING) | (left << LEFT) | (threads << THREADS) | (old & 1)


def after_arrival_sm80(old: U64, count: U64) -> U64:
    """sm_80 to sm_89: missing in bits 32 to 62, threads in bits 0 to 29."""
    new = old + (count << 32)
    return ((new ^ old) >> 63).ne(0).choose(new + (((old & 0x3FFF_FFFF) + (1 << 30)) << 32), new)


@op("SYNCS.EXCH.64", pipe="lsu", text="barrier at {at} = {value}")
def syncs_exch(w: Warp, at: Address, value: Register) -> U64:
    low, high = w.stored(value, 2).words
    return w.update(at, low.join(high), replaced)


def replaced(old: U64, value: U64) -> U64:
    return value


@op("SYNCS.ARRIVE.TRANS64.A1T0", "SYNCS.ARRIVE.TRANS64.RED.A1T0", pipe="lsu",
    text="{to} = the barrier at {at}, at which each lane arrives")  # fmt: skip
def syncs_arrive(w: Warp, at: Address, unused: U32) -> U64:
    return arrive(w, at, unused.like(1))


@op("SYNCS.ARRIVE.TRANS64.ART0", "SYNCS.ARRIVE.TRANS64.RED.ART0", pipe="lsu",
    text="{to} = the barrier at {at}, at which {count} arrive")  # fmt: skip
def syncs_arrive_count(w: Warp, at: Address, count: U32) -> U64:
    return arrive(w, at, count)


@op("SYNCS.ARRIVE.TRANS64", "SYNCS.ARRIVE.TRANS64.RED", pipe="lsu",
    text="{to} = the barrier at {at}, at which each lane arrives and expects {bytes} bytes")  # fmt: skip
def syncs_arrive_expecting(w: Warp, at: Address, bytes: U32) -> U64:
    return w.update(at, bytes.wide(), after_arrival_expecting)


@op("SYNCS.ARRIVE.TRANS64.RED.A0TR", pipe="lsu", text="the barrier at {at} expects {bytes} bytes of each lane")
def syncs_expect(w: Warp, at: Address, bytes: U32) -> U64:
    return w.update(at, bytes.wide(), after_expecting)


@op("SYNCS.ARRIVE.TRANS64.RED.A0TX", pipe="lsu", text="{bytes} bytes of each lane have arrived at the barrier at {at}")
def syncs_complete(w: Warp, at: Address, bytes: U32) -> U64:
    return w.update(at, bytes.wide(), after_bytes)


@op("SYNCS.ARRIVE.TRANS64.OPTOUT", "SYNCS.ARRIVE.TRANS64.RED.OPTOUT", pipe="lsu",
    text="{to} = the barrier at {at}, which each lane leaves, and which expects {bytes} bytes")  # fmt: skip
def syncs_leave_expecting(w: Warp, at: Address, bytes: U32) -> U64:
    return w.update(at, bytes.wide(), after_leaving_expecting)


@op("SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0", "SYNCS.ARRIVE.TRANS64.RED.OPTOUT.A1T0", pipe="lsu",
    text="{to} = the barrier at {at}, which each lane leaves")  # fmt: skip
def syncs_leave(w: Warp, at: Address, unused: U32) -> U64:
    return w.update(at, unused.like(1).wide(), after_leaving)


@op("SYNCS.ARRIVE.TRANS64.OPTOUT.ART0", "SYNCS.ARRIVE.TRANS64.RED.OPTOUT.ART0", pipe="lsu",
    text="{to} = the barrier at {at}, which {count} leave")  # fmt: skip
def syncs_leave_count(w: Warp, at: Address, count: U32) -> U64:
    return w.update(at, count.wide(), after_leaving)


@op("SYNCS.PHASECHK.TRANS64", pipe="lsu", text="{to} = whether phase {phase} at {at} is over")
def syncs_phasechk(w: Warp, at: Address, phase: U32) -> Pred:
    """The phase is bit 31 of the high word that an arrival gave, or a parity put there."""
    return (w.update(at, phase.wide(), unchanged).high() ^ phase).bit(31)


@op("SYNCS.PHASECHK.TRANS64.TRYWAIT", pipe="lsu", text="{to} = whether phase {phase} at {at} is over, after a wait")
def syncs_trywait(w: Warp, at: Address, phase: U32) -> Pred:
    """The hardware waits for some time before it returns false: on an H200 the first try found the phase over in each
    of 96 waits of a loop of arrivals (2026-11-21, `barrier_phases` of tests/validation/field/field_library.cu)."""
    over = syncs_phasechk(w, at, phase)
    w.waits_until(over)
    return over


def unchanged(old: U64, value: U64) -> U64:
    return old


@op("SYNCS.CCTL.IV", pipe="lsu", text="the barrier at {at} is no more")
def syncs_invalidate(w: Warp, at: Address) -> None:
    """Its memory may be used for something else."""
    w.end_mbarrier(at)


@op("SYNCS.CCTL.IVALL", pipe="lsu", text="what is known of barriers is read anew")
def syncs_anew(w: Warp) -> None:
    w.fence()


@op("ATOMS.ARRIVE.64", pipe="lsu", text="{to} = the barrier at {at}, at which each lane arrives")
def atoms_arrive(w: Warp, at: Address) -> U64:
    one = U64(w.e, w.e.constant(U64, 1))
    return w.update(at, one, after_arrival_sm80)


# Asynchronous copies (LDGSTS) that arrive when they are done: they are done at once, so the lane arrives now.


@op("ARRIVES.LDGSTSBAR.64.ARVCNT", pipe="lsu", text="each lane arrives at the barrier at {at}, its copies being done")
def arrives_copies(w: Warp, at: Address) -> None:
    copied(w)
    arrive(w, at, U32(w.e, w.e.constant(U32, 1)))


@op("ARRIVES.LDGSTSBAR.64", pipe="lsu", text="each lane arrives at the barrier at {at}, its copies being done")
def arrives_copies_sm80(w: Warp, at: Address) -> None:
    """Without .noinc an ATOMS.ADD before it adds the lanes to those that are missing."""
    copied(w)
    atoms_arrive(w, at)


@op("SYNCS.ARRIVE.TRANS64.RED.A0T1", pipe="lsu", text="the barrier at {at} waits for a copy of each lane")
def syncs_expect_copy(w: Warp, at: Address, unused: U32) -> U64:
    """Until ARRIVES.LDGSTSBAR.64.TRANSCNT takes it back: the copy is done already."""
    return w.update(at, unused.like(0).wide(), unchanged)


@op("ARRIVES.LDGSTSBAR.64.TRANSCNT", pipe="lsu", text="the copies that the barrier at {at} waits for are done")
def arrives_transactions(w: Warp, at: Address) -> None:
    """See SYNCS.ARRIVE.TRANS64.RED.A0T1."""
    copied(w)


def copied(w: Warp) -> None:
    """The copies so far are done."""
    w.commit_copies()
    w.wait_for_copies(0)


# The cluster


@op("UCGABAR_ARV", pipe="adu", text="tell the cluster's barrier of this warp")
def ucgabar_arv(w: Warp) -> None:
    w.cluster_arrive()


@op("UCGABAR_WAIT", pipe="adu", text="wait for the cluster")
def ucgabar_wait(w: Warp) -> None:
    w.cluster_wait()


@op("PREEXIT", pipe="none", text="a dependent grid may start")
def preexit(w: Warp) -> None:
    """Grids run one after the other here."""


@op("ACQBULK", pipe="none", text="wait for the grids before")
def acqbulk(w: Warp) -> None:
    """Grids run one after the other here."""
