"""How memory is addressed, and in what pieces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warplens.counters.idioms._flow import Flow
from warplens.counters.idioms._idiom import Found, idiom
from warplens.counters.opcodes import access
from warplens.kernel import SourceLine
from warplens.program import Register

ADDING = frozenset({"IMAD", "LEA", "IADD3", "IADD", "VIADD", "UIADD3", "UIMAD", "ULEA", "IADD64"})
WORDS = {64: 2, 128: 4, 256: 8}
STACK = ("R", 1)


@idiom("64-bit address")
def wide_address(flow: Flow) -> Iterator[Found]:
    """The two registers of a memory instruction's address come from IMAD.WIDE, or from an addition (IADD3, LEA) and
    its continuation with the carry (.X).  Addresses of one source line are reported together."""
    lines: dict[SourceLine | None, set[int]] = defaultdict(set)
    accesses: dict[SourceLine | None, set[int]] = defaultdict(set)
    for instruction in flow.instructions:
        words = flow.base_words(instruction.index)
        makers = flow.base_sources(instruction.index)
        if len(words) < 2 or not makers:
            continue
        made = {i for i in makers if _adds(flow, i)}
        if made:
            lines[instruction.source] |= made
            accesses[instruction.source].add(instruction.index)
    for source, made in lines.items():
        many = len(accesses[source])
        plural = "addresses" if many > 1 else "address"
        yield Found(f"{len(made)} instructions for the {plural} of {many} memory instructions", made)


def _adds(flow: Flow, index: int) -> bool:
    """The whole address, or one of its words with carry."""
    instruction = flow.instructions[index]
    if instruction.base not in ADDING or {"MOV", "HI"} == set(instruction.modifiers[:1]):
        return False
    carries = {"WIDE", "64", "X"} & set(instruction.modifiers)
    return bool(carries) or any(file in ("P", "UP") for file, _ in flow.writes[index])


@idiom("vectorised access")
def vectorised(flow: Flow) -> Iterator[Found]:
    """A load or store of 64, 128 or 256 bits a lane whose registers are made or used one by one; those of doubles,
    64-bit integers and pointers are used in pairs and are not meant.  Of one source line together."""
    groups: dict[tuple[SourceLine | None, str, int], list[int]] = defaultdict(list)
    for instruction in flow.instructions:
        found = access(instruction)
        if found is None or found.bits not in WORDS or found.action not in ("load", "store"):
            continue
        if found.space != "constant" and _one_by_one(flow, instruction.index, found.action):
            groups[instruction.source, f"{found.space} {found.action}", found.bits].append(instruction.index)
    for (_, what, bits), members in groups.items():
        yield Found(f"{bits // 32} elements of 32 bits at once in each {what}", members)


def _one_by_one(flow: Flow, index: int, action: str) -> bool:
    if action == "load":
        words = flow.writes[index]
        users = [{w for w in flow.reads[i] & words if index in flow.definers(i, w)} for i in flow.users[index]]
        return any(len(pair) == 1 for pair in users) or (
            any(len(run) > 2 for run in users) and not any(len(run) == 2 for run in users)
        )
    data = [o for o in flow.instructions[index].operands if isinstance(o, Register)][-1:]
    if not data or data[0].index < 0:
        return False
    count = WORDS.get(_bits(flow, index), 1)
    makers = [flow.definers(index, (data[0].file, data[0].index + k)) for k in range(count)]
    apart = {frozenset(m) for m in makers}
    if len(apart) == 1:  # one instruction made them all: it is a copy of what that one moved
        return any(_one_by_one(flow, m, "load") or len(flow.writes[m]) > 2 for m in makers[0] if flow.base(m) == "LDG")
    return not any(len(flow.writes[m]) == 2 for made in makers for m in made if flow.base(m)[0] == "D")


def _bits(flow: Flow, index: int) -> int:
    found = access(flow.instructions[index])
    return found.bits if found else 32


@idiom("register spill")
def spill(flow: Flow) -> Iterator[Found]:
    """A local store (STL) and a local load (LDL) at the same fixed place of the stack, R1 + offset: values that did
    not fit into registers."""
    stored, loaded = _fixed(flow, "STL"), _fixed(flow, "LDL")
    places = stored.keys() & loaded.keys()
    members = [i for place in places for i in stored[place] + loaded[place]]
    if members:
        many = f"{len(places)} values are" if len(places) > 1 else "1 value is"
        yield Found(f"{many} kept in local memory for lack of registers", members)


@idiom("array in local memory")
def local_array(flow: Flow) -> Iterator[Found]:
    """A local access whose place is computed: an array indexed by a variable cannot stand in registers."""
    members = [i for i in flow.named("LDL", "STL") if set(flow.base_words(i)) - {STACK}]
    if members:
        yield Found("an array with a variable index lies in local memory, not in registers", members)


def _fixed(flow: Flow, base: str) -> dict[int, list[int]]:
    """Place on the stack -> accesses of it."""
    found: dict[int, list[int]] = defaultdict(list)
    for index in flow.named(base):
        address = flow.address(index)
        if address is not None and set(flow.base_words(index)) <= {STACK}:
            found[address.offset].append(index)
    return found
