"""The most important thing about a launch, in one sentence.  F7.

A fact is a function; it answers with a sentence and with how much of the kernel's work it is about, or with
None.  The heaviest fact is told.  Work is counted, never timed: a warp instruction is a quarter (four
sub-partitions issue one each a cycle), a wavefront 1 (a multiprocessor's data stage does one a cycle), a sector 1
(a multiprocessor's share of the L2 is some 32 bytes a cycle); the three only rank the facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from warplens.compiler.signature import first_names
from warplens.counters.opcodes import access
from warplens.counters.sections.shared_memory import ideal
from warplens.counters.vocabulary import (
    ALL,
    ATOMIC,
    BYTES,
    EXECUTED,
    GLOBAL,
    IDEAL,
    LOAD,
    LOCAL,
    REDUCTION,
    REQUESTS,
    SECTORS,
    STORE,
    WAVEFRONTS,
    Column,
    Quantity,
    bits,
    opcode,
)
from warplens.report.launch_view import LaunchView
from warplens.report.tables import SECTOR_ROWS, SHARED_ROWS, MemoryRow, divergence, mix, sectors, wavefronts

WORTH_TELLING = 0.08  # of the work; below it a kernel is called clean
SOME = 0.01  # of the branches; fewer are no cause
ISSUE = 0.25
MEETING = 1.5  # lanes a word from which on atomics are told to meet
ATOMICS = GLOBAL & (ATOMIC | REDUCTION)
LANES = Column("threads_on")
IDLE = 32 * EXECUTED[ALL] - LANES[ALL]
DOUBLE = opcode("DADD", "DMUL", "DFMA", "DSETP")
TO_DOUBLE, TO_FLOAT = opcode("F2F.F64.F32"), opcode("F2F.F32.F64")
FRACTIONS = {1 / 4: "a quarter", 1 / 3: "a third", 1 / 2: "half", 2 / 3: "two thirds", 3 / 4: "three quarters"}
RESOURCES = {
    "registers": "registers",
    "shared_mem": "shared memory",
    "warps": "warps",
    "blocks": "blocks a multiprocessor",
    "barriers": "barriers",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence about `weight` (0 to 1) of the kernel's work."""

    weight: float
    sentence: str


def verdict(subject: LaunchView) -> str:
    """ "nccopy: half of the sectors that its global loads move are needless (8 a request where 4 would do)"."""
    if wrong := unsound(subject):
        return f"{subject.title}: {wrong}"
    found = [fact for tell in FACTS if (fact := tell(subject)) and fact.weight >= WORTH_TELLING]
    told = max(found, key=lambda fact: fact.weight).sentence if found else clean(subject)
    return f"{subject.title}: {told}"


def unsound(subject: LaunchView) -> str:
    """The first error that a check found: what is wrong is mended before what is slow."""
    for hazard in subject.trace.hazards:
        if hazard.severity == "error":
            places = dict.fromkeys(party.at.source.line for party in hazard.parties if party.at.source)
            lines = f"line{'s' * (len(places) > 1)} {' and '.join(map(str, places))}: " if places else ""
            return lines + hazard.message
    return ""


def work(subject: LaunchView) -> float:
    moved = sum(row.units for row in (*sectors(subject), *wavefronts(subject)))
    return max(ISSUE * int(subject["smsp__inst_executed.sum"]) + moved, 1.0)


def excessive_sectors(subject: LaunchView) -> Fact | None:
    rows = [row for row in sectors(subject) if row.excess and row.name.startswith("Global")]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.excess)
    return Fact(
        worst.excess / work(subject),
        f"{of_all(worst.excess / worst.units)} the sectors that its {plural(worst)} move are needless "
        f"({per(worst.per_request)} a request where {per(worst.ideal_per_request)} would do)"
        + mostly(subject, SECTORS[SECTOR_ROWS[worst.name]] - IDEAL[SECTOR_ROWS[worst.name]]),
    )


def bank_conflicts(subject: LaunchView) -> Fact | None:
    rows = [row for row in wavefronts(subject) if row.excess]
    if not rows:
        return None
    worst = max(rows, key=lambda row: row.excess)
    return Fact(
        worst.excess / work(subject),
        f"{of_all(worst.excess / worst.units)} the wavefronts of its {plural(worst)} are bank conflicts "
        f"({per(worst.per_request)} a request where {per(worst.ideal_per_request)} would do)"
        + mostly(subject, WAVEFRONTS[SHARED_ROWS[worst.name]] - ideal(SHARED_ROWS[worst.name])),
    )


def idle_lanes(subject: LaunchView) -> Fact | None:
    executed = int(subject["smsp__inst_executed.sum"])
    if not executed:
        return None
    idle = 1 - subject.lanes / 32
    seen = divergence(subject)
    cause = ""
    if seen.divergent:
        cause = mostly(subject, IDLE, "the others idle ")
        if (parted := seen.divergent / seen.targets) >= SOME:
            cause += f"; {share(parted)} of its branches send the lanes of a warp two ways"
    elif subject.launch.threads_per_block % 32:
        cause = f"; a block of {subject.launch.threads_per_block} threads does not fill its last warp"
    else:  # instructions under a predicate, or whole warps that lanes left for good
        cause = mostly(subject, IDLE, "the others idle ")
    return Fact(
        ISSUE * executed * idle / work(subject),
        f"on average {per(subject.lanes)} of the 32 threads of a warp do something{cause}",
    )


def spills(subject: LaunchView) -> Fact | None:
    rows = [row for row in sectors(subject) if row.name.startswith("Local")]
    requests = sum(row.requests for row in rows)
    if not requests:
        return None
    everything = sum(row.requests for row in (*sectors(subject), *wavefronts(subject)))
    return Fact(
        sum(row.units for row in rows) / work(subject),
        f"{share(requests / everything)} of its memory requests go to local memory: "
        + (indexed(subject) or "spilled registers, or arrays that no register can hold")
        + mostly(subject, SECTORS[LOCAL]),
    )


def indexed(subject: LaunchView) -> str:
    """ "the array a, which line 7 indexes by a variable": where addresses do not begin at the stack pointer, R1."""
    for instruction in subject.program.instructions:
        line, found = instruction.source, access(instruction)
        if not (line and found and found.space == "local" and subject.trace.executed[instruction.index]):
            continue
        if re.search(r"\[R1\b", instruction.text):
            continue
        kernel = subject.kernel
        parameters = first_names(subject.sources.values(), kernel.name, len(kernel.parameters))
        names = set(re.findall(r"\b([A-Za-z_]\w*)\s*\[", subject.text_of(line))) - {*parameters}
        if len(names) == 1:
            return f"the array {names.pop()}, which line {line.line} indexes by a variable"
    return ""


def meeting_atomics(subject: LaunchView) -> Fact | None:
    """Lanes whose atomics are for one word are served one after the other."""
    lanes = subject.total(LANES[ATOMICS])
    words = sum(subject.total(BYTES[ATOMICS & bits(width)]) / (width // 8) for width in (16, 32, 64, 128))
    if not words or lanes / words < MEETING:
        return None
    return Fact(
        (lanes - words) / (work(subject) + lanes - words),
        f"{per(lanes / words)} lanes of a warp meet on each word of its atomics, which are done one after the other"
        + mostly(subject, LANES[ATOMICS])
        + "; sum up in the warp or the block first",
    )


def doubles_by_accident(subject: LaunchView) -> Fact | None:
    """Floats that become doubles and floats again: a literal such as 0.5 is a double."""
    there, back, double = (subject.total(EXECUTED[kind]) for kind in (TO_DOUBLE, TO_FLOAT, DOUBLE))
    if not (there and back and double):
        return None
    part = (there + back + double) / subject.total(EXECUTED[ALL])
    return Fact(
        part / 2,
        f"{share(part)} of its instructions compute in double precision with floats, or convert them"
        + mostly(subject, EXECUTED[DOUBLE])
        + "; a literal is a float with an f (0.5f), as sqrtf and expf are",
    )


def narrow_accesses(subject: LaunchView) -> Fact | None:
    """Accesses of one or two bytes a lane: most of the instructions are for addresses."""
    accesses = GLOBAL & (LOAD | STORE)
    single, short = REQUESTS[accesses & bits(8)], REQUESTS[accesses & bits(16)]
    part = subject.total(single + short) / max(subject.total(REQUESTS[accesses]), 1)
    if part < 1 / 2:
        return None
    size = "1 byte" if subject.total(single) > subject.total(short) else "2 bytes"
    return Fact(
        part / 8,  # it moves what it must, with more instructions than it need
        f"its global accesses move {size} a thread{mostly(subject, single + short)}; "
        "vectors of 4 or more bytes (uchar4, half2) need fewer instructions",
    )


def small_grid(subject: LaunchView) -> Fact | None:
    blocks, machine = subject.launch.blocks, subject.machine
    if blocks >= machine.multiprocessors:
        return None
    used = f"{blocks} {'block keeps' if blocks == 1 else 'blocks keep'}"
    return Fact(
        (1 - blocks / machine.multiprocessors) / 8,  # a matter of the launch, and often only of a small trial
        f"its {used} at most {blocks} of the {machine.multiprocessors} multiprocessors of the {machine.title} busy",
    )


def low_occupancy(subject: LaunchView) -> Fact | None:
    here = subject.occupancy
    if here.percent > 50 or subject.waves < 1:  # with so few blocks no limit is reached
        return None
    limit = " and ".join(RESOURCES[name] for name in here.limiters if name not in free(subject))
    return Fact(
        (1 - here.percent / 100) / 4,  # fewer warps hide less, but none of the work is needless
        f"a multiprocessor holds {here.warps} of {subject.machine.limits.warps_per_multiprocessor} warps, "
        f"limited by {limit}" + "; larger blocks hold more" * ("blocks" in here.limiters),
    )


def free(subject: LaunchView) -> frozenset[str]:
    """What the kernel itself takes none of: each block has some shared memory for the system."""
    takes = subject.kernel.shared_bytes + subject.launch.shared
    return frozenset() if takes or "blocks" not in subject.occupancy.limiters else frozenset({"shared_mem"})


FACTS: tuple[Callable[[LaunchView], Fact | None], ...] = (
    excessive_sectors,
    bank_conflicts,
    idle_lanes,
    spills,
    meeting_atomics,
    doubles_by_accident,
    narrow_accesses,
    small_grid,
    low_occupancy,
)


def mostly(subject: LaunchView, quantity: Quantity, what: str = "") -> str:
    """ ", mostly in line 40": where most of a quantity comes from; "" where lines are not known."""
    amounts = quantity.of(subject.by_line).tolist()
    if not amounts or max(amounts) <= 0:
        return ""
    place = subject.lines[amounts.index(max(amounts))]
    others = {line.file for line in subject.lines} != {place.file}
    return f", {what}mostly in line {place.line}" + (f" of {place.file.rsplit('/', 1)[-1]}" if others else "")


def clean(subject: LaunchView) -> str:
    """What there is to say where nothing is needless."""
    packed = "every access is perfectly packed"
    rows = [*sectors(subject), *wavefronts(subject)]
    wasted = sum(row.excess for row in rows)
    if not rows:
        packed = "it uses no memory"
    elif wasted:
        packed = f"nearly every access is packed ({share(wasted / sum(row.units for row in rows))} is needless)"
    if not (parts := mix(subject)):
        return packed
    total = int(subject["smsp__inst_executed.sum"]) / subject.warps
    most = " and ".join(f"{row.name} ({per(row.share * total)})" for row in parts[:2])
    return f"{packed}; a warp executes {per(total)} instructions, most of them for {most}"


def plural(row: MemoryRow) -> str:
    """ "global loads" for the row "Global Load"."""
    name = row.name.lower()
    return "copies " + name if " to " in name or " from " in name else name + "s"


def of_all(part: float) -> str:
    """ "half of", "87 % of"."""
    for fraction, words in FRACTIONS.items():
        if abs(part - fraction) < 0.005:
            return f"{words} of"
    return f"{share(part)} of"


def share(part: float) -> str:
    """A percentage that is never rounded to nothing or to everything."""
    percent = 100 * part
    if 0 < percent < 1 or 99 < percent < 100:
        return f"{percent:.2g} %" if percent < 1 else f"{percent:.1f} %"
    return f"{percent:.0f} %"


def per(amount: float) -> str:
    """ "4", "8.5", "1,024"."""
    return f"{amount:,.0f}" if abs(amount - round(amount)) < 0.05 else f"{amount:,.1f}"
