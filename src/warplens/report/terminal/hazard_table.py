"""What the checks found, in words: one heading a finding, one row for each of its places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warplens.core.hazard import CHECKS, Hazard, Party
from warplens.report.launch_view import LaunchView

LOOKED_FOR = {
    "memory": "out-of-bounds or misaligned accesses",
    "races": "races in shared and global memory, and asynchronous operations that are not fenced or waited for",
    "init": "uninitialized reads of shared or local memory",
    "barriers": "block barriers that only some threads of a block reach, and mbarriers that are used wrongly",
}
UNSEEN = "Not covered: code that this launch did not execute, other launches, copies by the host."


@dataclass(frozen=True, slots=True)
class HazardPlace:
    """ "write by thread (3,0,0)", "copy.cu:12", the source line or instruction there."""

    who: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class HazardRow:
    severity: str
    sentence: str
    places: tuple[HazardPlace, ...]


def rows(subject: LaunchView) -> list[HazardRow]:
    return [row(subject, hazard) for hazard in subject.trace.hazards]


def row(subject: LaunchView, hazard: Hazard) -> HazardRow:
    times = "once" if hazard.times == 1 else f"{hazard.times:,} times"
    block = ",".join(map(str, hazard.block))
    sentence = f"{hazard.message} ({times}; here in block ({block}))" if hazard.parties else hazard.message
    return HazardRow(hazard.severity, sentence, tuple(place(subject, party) for party in hazard.parties))


def place(subject: LaunchView, party: Party) -> HazardPlace:
    x, y, z = party.thread
    code = f"{party.at.opcode} {party.at.text} at {party.at.offset:#x}"
    source = party.at.source
    where = f"{source.file.rsplit('/', 1)[-1]}:{source.line}" if source else ""
    text = subject.text_of(source).strip() if source else ""
    return HazardPlace(f"{party.act} by thread ({x},{y},{z})", where, text or code)


def summary(checks: Sequence[str], hazards: Sequence[Hazard]) -> str:
    """ "memory, races, init: 2 errors"; where nothing was found also what was looked for and what no check sees."""
    found = {word: sum(hazard.severity == word for hazard in hazards) for word in ("error", "warning", "note")}
    spoken = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in found.items() if count]
    head = f"{', '.join(('memory', *checks))}: {', '.join(spoken) or 'nothing found'}"
    return head if spoken else f"{head}. {_looked_for(checks)}"


def _looked_for(checks: Sequence[str]) -> str:
    looked = "; ".join(words for check, words in LOOKED_FOR.items() if check == "memory" or check in checks)
    left = [check for check in CHECKS if check not in checks]
    more = f" Not checked: {', '.join(left)}." if left else ""
    return f"Looked for: {looked}.{more} {UNSEEN}"
