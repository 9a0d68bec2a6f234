"""Headline: one line on a launch, its heaviest finding or what a kernel without one does."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.counters.access_table import MemoryRow
from warplens.report.finding_text import format_finding
from warplens.report.launch_view import LaunchView
from warplens.report.tables import mix, sectors, wavefronts
from warplens.report.wording import category_name, decimal, percent
from warplens.rules import findings


def headline(subject: LaunchView) -> str:
    """ "nccopy: uncoalesced global loads: 50 % of sectors wasted (8 per request, ideal 4), mostly in line 40": the
    finding that may gain most where that is known, else the heaviest."""
    if error := first_error(subject):
        return f"{subject.title}: {error}"
    if subject.advice:
        return f"{subject.title}: {subject.advice[0].worth(subject.machine.title)}"
    found = findings(subject)
    return f"{subject.title}: {format_finding(found[0], subject) if found else no_finding(subject)}"


def first_error(subject: LaunchView) -> str:
    """The first error that a check found, "" for none: a wrong kernel is repaired before a slow one."""
    for hazard in subject.trace.hazards:
        if hazard.severity == "error":
            places = dict.fromkeys(party.at.source.line for party in hazard.parties if party.at.source)
            lines = f"line{'s' * (len(places) > 1)} {' and '.join(map(str, places))}: " if places else ""
            return lines + hazard.message
    return ""


def no_finding(subject: LaunchView) -> str:
    """How well memory is used, and the largest groups of instructions."""
    packed = memory_use(subject)
    if not (parts := mix(subject)):
        return packed
    total = int(subject["smsp__inst_executed.sum"]) / subject.warps
    groups = ", ".join(f"{category_name(row.name)} {decimal(row.share * total)}" for row in parts[:2])
    number = decimal(total)
    return f"{packed}; {number} instruction{'s' * (number != '1')} per warp, largest groups: {groups}"


def memory_use(subject: LaunchView) -> str:
    """ "all global accesses fully coalesced, no bank conflicts"."""
    moved, passes = sectors(subject), wavefronts(subject)
    if not moved and not passes:
        return "no memory accesses"
    texts = []
    if moved:
        wasted = excess_share(moved)
        kinds = "global accesses" if any(row.name.startswith("Global") for row in moved) else "accesses"
        texts.append(f"{percent(wasted)} of sectors wasted" if wasted else f"all {kinds} fully coalesced")
    if passes:
        wasted = excess_share(passes)
        texts.append(f"{percent(wasted)} of shared wavefronts are bank conflicts" if wasted else "no bank conflicts")
    return ", ".join(texts)


def excess_share(rows: Sequence[MemoryRow]) -> float:
    """Excess sectors or wavefronts of all that were moved."""
    return sum(row.excess for row in rows) / max(sum(row.units for row in rows), 1)
