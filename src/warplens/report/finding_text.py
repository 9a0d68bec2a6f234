"""Finding text: words a rule's finding, "uncoalesced global loads: 50 % of sectors wasted (8 per request, ideal 4)".

One function per type of evidence; a finding without one is a TypeError, which tests/rules/ would meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from warplens.core.cubin import SourceLine
from warplens.counters.access_table import MemoryRow
from warplens.report.launch_view import LaunchView
from warplens.report.prediction_view import in_bytes, spoken
from warplens.report.wording import RESOURCES, count, decimal, percent
from warplens.rules import Finding
from warplens.rules.instructions import (
    barrier_stalls,
    division_by_variable,
    double_literal,
    inactive_lanes,
    loop_not_unrolled,
    needless_barrier,
    slow_conversion,
    tensor_cores_unused,
    unfused_multiply_add,
    work_per_thread,
)
from warplens.rules.launch import (
    low_occupancy,
    register_cliff,
    shared_memory_cliff,
    small_blocks,
    small_grid,
    tail_effect,
)
from warplens.rules.memory import (
    bank_conflicts,
    contended_atomics,
    latency_bound,
    local_memory,
    misaligned_rows,
    missing_restrict,
    narrow_access,
    redundant_loads,
    uncoalesced_access,
    unused_bytes,
)
from warplens.rules.program.pageable_transfers import PageableEvidence
from warplens.rules.program.serial_transfers import SerialEvidence

CAUSES = frozenset({"inactive_lanes"})  # rules whose text is followed by causes instead of advice


def format_finding(finding: Finding, subject: LaunchView) -> str:
    """Fault and numbers, the line with most of it, advice where there is a short one."""
    text, advice = format_evidence(finding.evidence, subject)
    return text + mostly(finding.line, subject.lines) + (f"; {advice}" if advice else "")


def format_fault(finding: Finding, subject: LaunchView) -> str:
    """The same without advice, but with causes."""
    text, advice = format_evidence(finding.evidence, subject)
    causes = f" ({advice})" if finding.fault in CAUSES and advice else ""
    return text + causes + mostly(finding.line, subject.lines)


def mostly(place: SourceLine | None, lines: Sequence[SourceLine]) -> str:
    """ ", mostly in line 40", with the file where the kernel's lines are of several."""
    if place is None:
        return ""
    several = {line.file for line in lines} != {place.file}
    return f", mostly in line {place.line}" + (f" of {place.file.rsplit('/', 1)[-1]}" if several else "")


@singledispatch
def format_evidence(evidence: Any, subject: LaunchView) -> tuple[str, str]:
    """(fault with its numbers, advice or "")."""
    raise TypeError(f"no text for the evidence {type(evidence).__qualname__} of {type(evidence).__module__}")


@format_evidence.register
def _(evidence: uncoalesced_access.UncoalescedAccessEvidence, subject: LaunchView) -> tuple[str, str]:
    worst = evidence.worst
    return f"uncoalesced {plural(worst)}: {percent(worst.excess / worst.units)} of sectors wasted {against(worst)}", ""


@format_evidence.register
def _(evidence: bank_conflicts.BankConflictsEvidence, subject: LaunchView) -> tuple[str, str]:
    worst = evidence.worst
    share = percent(worst.excess / worst.units)
    return f"bank conflicts in {plural(worst)}: {share} of wavefronts {against(worst)}", ""


@format_evidence.register
def _(evidence: inactive_lanes.InactiveLanesEvidence, subject: LaunchView) -> tuple[str, str]:
    causes = []
    if evidence.divergent_branches:
        causes.append(f"{percent(evidence.divergent_branches)} of branches diverge")
    if evidence.partial_block:
        causes.append(f"a block of {count(evidence.partial_block, 'thread')} does not fill its last warp")
    return f"inactive threads: {decimal(evidence.threads)} of 32 per warp active on average", "; ".join(causes)


@format_evidence.register
def _(evidence: local_memory.LocalMemoryEvidence, subject: LaunchView) -> tuple[str, str]:
    cause = "register spills, or arrays that do not fit in registers"
    if evidence.array:
        cause = f"array {evidence.array}, indexed by a variable in line {evidence.indexed_at}"
    return f"local memory: {percent(evidence.share)} of memory requests ({cause})", ""


@format_evidence.register
def _(evidence: contended_atomics.ContendedAtomicsEvidence, subject: LaunchView) -> tuple[str, str]:
    within = f"{decimal(evidence.lanes_per_word)} lanes per warp update the same word, one after the other"
    across = f"each word is updated {evidence.updates_per_word:,.0f} times on average, one after the other"
    many = evidence.lanes_per_word < contended_atomics.LANES_PER_WORD
    return f"contended atomics: {across if many else within}", "reduce within the warp or the block first"


@format_evidence.register
def _(evidence: double_literal.DoubleLiteralEvidence, subject: LaunchView) -> tuple[str, str]:
    share = percent(evidence.share)
    return f"double precision on floats: {share} of instructions compute in double precision or convert", (
        "write float literals with an f (0.5f) and call sqrtf, expf"
    )


@format_evidence.register
def _(evidence: narrow_access.NarrowAccessEvidence, subject: LaunchView) -> tuple[str, str]:
    return f"narrow global accesses: {count(evidence.bytes, 'byte')} per thread", (
        "vectors of 4 or more bytes (uchar4, half2) need fewer instructions"
    )


@format_evidence.register
def _(evidence: small_grid.SmallGridEvidence, subject: LaunchView) -> tuple[str, str]:
    blocks, most = count(evidence.blocks, "block"), evidence.multiprocessors
    uses = "uses" if evidence.blocks == 1 else "use"
    return f"small grid: {blocks} {uses} at most {evidence.blocks} of the {most} SMs of the {subject.machine.title}", ""


@format_evidence.register
def _(evidence: low_occupancy.LowOccupancyEvidence, subject: LaunchView) -> tuple[str, str]:
    limit = " and ".join(RESOURCES[name] for name in evidence.limiters)
    advice = "use larger blocks" if "blocks" in evidence.limiters else ""
    return f"low occupancy: {evidence.warps} of {evidence.most} warps per SM, limited by {limit}", advice


@format_evidence.register
def _(evidence: misaligned_rows.MisalignedRowsEvidence, subject: LaunchView) -> tuple[str, str]:
    numbers = f"{decimal(evidence.lines)} lines of 128 bytes per request, ideal {decimal(evidence.ideal)}"
    return f"misaligned rows: {numbers}", "pad rows to a multiple of 128 bytes (cudaMallocPitch)"


@format_evidence.register
def _(evidence: redundant_loads.RedundantLoadsEvidence, subject: LaunchView) -> tuple[str, str]:
    axes = " and ".join(f"threadIdx.{axis}" for axis in evidence.axes)
    same = f"{evidence.warps} warps of a block load the same data, {axes} {'are' if ' and ' in axes else 'is'} not in"
    return f"redundant global loads: {same} the address", (
        f"a tile in shared memory saves {percent(evidence.share)} of the sectors"
    )


@format_evidence.register
def _(evidence: unused_bytes.UnusedBytesEvidence, subject: LaunchView) -> tuple[str, str]:
    used = f"{decimal(evidence.used)} of 32 bytes per sector are used"
    return f"unused bytes in global loads: {used}", "keep each field in an array of its own"


@format_evidence.register
def _(evidence: division_by_variable.DivisionByVariableEvidence, subject: LaunchView) -> tuple[str, str]:
    width = "64-bit " if evidence.long else ""
    each = f"{count(evidence.instructions, 'instruction')} each"
    return f"{width}division or remainder by a variable: {each}, {percent(evidence.share)} of all executed", (
        "a constant divisor, a mask or an index of its own needs none"
    )


@format_evidence.register
def _(evidence: loop_not_unrolled.LoopNotUnrolledEvidence, subject: LaunchView) -> tuple[str, str]:
    of = f"{evidence.overhead} of {count(evidence.instructions, 'instruction')} per round only keep it going"
    return f"loop not unrolled: {of}", "#pragma unroll 4, or a number of rounds known at compile time"


@format_evidence.register
def _(evidence: missing_restrict.MissingRestrictEvidence, subject: LaunchView) -> tuple[str, str]:
    waiting = f"{evidence.behind} of {count(evidence.loads, 'load')} from {', '.join(evidence.pointers)}"
    return f"missing __restrict__: {waiting} must wait for a store", (
        "declare const T* __restrict__ where arrays do not overlap"
    )


@format_evidence.register
def _(evidence: unfused_multiply_add.UnfusedMultiplyAddEvidence, subject: LaunchView) -> tuple[str, str]:
    share = percent(evidence.share)
    return f"unfused multiply-add: {share} of instructions are products that are then added", (
        "a * b + c or fmaf is one instruction, without --fmad=false or __fmul_rn"
    )


@format_evidence.register
def _(evidence: slow_conversion.SlowConversionEvidence, subject: LaunchView) -> tuple[str, str]:
    share = f"{percent(evidence.share)} of instructions, at {evidence.lanes} lanes per cycle and SM"
    return f"slow conversions in a loop: {share}", "convert outside the loop"


@format_evidence.register
def _(evidence: needless_barrier.NeedlessBarrierEvidence, subject: LaunchView) -> tuple[str, str]:
    each = f"{decimal(evidence.barriers)} per warp"
    if evidence.one_warp:
        return f"needless barriers: {each} in a block of 1 warp", "__syncwarp() is enough"
    return f"needless barriers: {each} with no memory access before the next barrier or the end", ""


@format_evidence.register
def _(evidence: barrier_stalls.BarrierStallsEvidence, subject: LaunchView) -> tuple[str, str]:
    every = f"one per {decimal(evidence.instructions)} instructions"
    return f"many barriers: {decimal(evidence.barriers)} per warp, {every}", (
        "shuffles within a warp need none, more work per thread fewer"
    )


@format_evidence.register
def _(evidence: tail_effect.TailEffectEvidence, subject: LaunchView) -> tuple[str, str]:
    last = f"{count(evidence.left, 'block')} after {count(evidence.whole, 'full wave')}"
    return f"tail effect: {last} of {evidence.resident:,} blocks", "fit the grid to whole waves"


@format_evidence.register
def _(evidence: small_blocks.SmallBlocksEvidence, subject: LaunchView) -> tuple[str, str]:
    each = f"{decimal(evidence.work)} SM cycles of work in each, {decimal(evidence.interval)} between two starts"
    return f"small blocks: {count(evidence.threads, 'thread')}, {each}", "use larger blocks or more work per thread"


@format_evidence.register
def _(evidence: register_cliff.RegisterCliffEvidence, subject: LaunchView) -> tuple[str, str]:
    then = f"{evidence.fewer} instead of {evidence.registers} registers per thread allow"
    return f"register cliff: {then} {evidence.more} instead of {evidence.warps} warps per SM", "try __launch_bounds__"


@format_evidence.register
def _(evidence: shared_memory_cliff.SharedMemoryCliffEvidence, subject: LaunchView) -> tuple[str, str]:
    then = f"{evidence.fewer:,} instead of {evidence.bytes:,} bytes of shared memory per block allow"
    return f"shared-memory cliff: {then} {evidence.more} instead of {evidence.warps} warps per SM", ""


@format_evidence.register
def _(evidence: latency_bound.LatencyBoundEvidence, subject: LaunchView) -> tuple[str, str]:
    loads = f"{decimal(evidence.loads)} load{'s' * (evidence.loads != 1)}"
    way = f"{decimal(evidence.warps)} warps with {loads} each"
    bytes_ = f"{evidence.bytes:,} bytes under way per SM, {evidence.needed:,} would hide the latency"
    return f"latency bound: {way}, {bytes_}", "load several elements before the first is used, or run more warps"


@format_evidence.register
def _(evidence: work_per_thread.WorkPerThreadEvidence, subject: LaunchView) -> tuple[str, str]:
    of = f"{decimal(evidence.indexing)} of {decimal(evidence.instructions)} instructions"
    return f"little work per thread: {of} compute indices, bounds and addresses", "give a thread several elements"


@format_evidence.register
def _(evidence: tensor_cores_unused.TensorCoresUnusedEvidence, subject: LaunchView) -> tuple[str, str]:
    share = percent(evidence.share)
    return f"tensor cores unused: {share} of instructions multiply halves of tiles in shared memory", (
        "wmma::mma_sync multiplies 16 x 16 x 16 per warp at once"
    )


def against(row: MemoryRow) -> str:
    """ "(8 per request, ideal 4)"."""
    return f"({decimal(row.per_request)} per request, ideal {decimal(row.ideal_per_request)})"


def plural(row: MemoryRow) -> str:
    """ "global loads" for the row "Global Load"."""
    name = row.name.lower()
    return "copies " + name if " to " in name or " from " in name else name + "s"


def format_program_finding(finding: Finding) -> str:
    """Fault, numbers and advice, and what it may save of the program's time on the GPU."""
    most = f"at most {percent(finding.weight)} less time on the GPU and the link"
    return f"{format_program_evidence(finding.evidence)}; {most}"


@singledispatch
def format_program_evidence(evidence: Any) -> str:
    raise TypeError(f"no text for the evidence {type(evidence).__name__}")


@format_program_evidence.register
def _(evidence: PageableEvidence) -> str:
    share = percent(evidence.time_us / evidence.busy_us)
    return (
        f"pageable transfers: {evidence.copies:,} from or to ordinary memory, {in_bytes(evidence.size)} in all, take "
        f"{spoken(evidence.time_us)}, {share} of the time; page-locked (cudaMallocHost, cudaHostRegister) "
        f"{spoken(evidence.pinned_us)}, without what locking takes"
    )


@format_program_evidence.register
def _(evidence: SerialEvidence) -> str:
    beside = f" beside {', '.join(evidence.kernels)}" if evidence.kernels else ""
    return (
        f"serial transfers: copies of {spoken(evidence.into_us)} into the GPU and {spoken(evidence.out_of_us)} out of "
        f"it wait for each other and for {spoken(evidence.work_us)} of work; in chunks on several streams, page-locked"
        f"{beside}, all could take {spoken(evidence.overlapped_us)}"
    )
