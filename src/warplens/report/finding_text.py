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
from warplens.report.wording import RESOURCES, count, decimal, percent
from warplens.rules import (
    Finding,
    bank_conflicts,
    contended_atomics,
    double_literal,
    inactive_lanes,
    local_memory,
    low_occupancy,
    narrow_access,
    small_grid,
    uncoalesced_access,
)


def format_finding(finding: Finding, subject: LaunchView) -> str:
    """Fault and numbers, the line with most of it, advice where there is a short one."""
    text, advice = format_evidence(finding.evidence, subject)
    return text + mostly(finding.line, subject.lines) + (f"; {advice}" if advice else "")


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
    lanes = decimal(evidence.lanes_per_word)
    return f"contended atomics: {lanes} lanes per warp update the same word, one after the other", (
        "reduce within the warp or the block first"
    )


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


def against(row: MemoryRow) -> str:
    """ "(8 per request, ideal 4)"."""
    return f"({decimal(row.per_request)} per request, ideal {decimal(row.ideal_per_request)})"


def plural(row: MemoryRow) -> str:
    """ "global loads" for the row "Global Load"."""
    name = row.name.lower()
    return "copies " + name if " to " in name or " from " in name else name + "s"
