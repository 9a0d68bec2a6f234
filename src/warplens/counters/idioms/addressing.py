"""Addressing idioms: address arithmetic, and accesses split into parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from warplens.core.cubin import SourceLine
from warplens.core.program import Register
from warplens.counters.idioms._def_use import DefUse, Word
from warplens.counters.idioms._idiom import Found, counted, idiom
from warplens.counters.opcodes import access

ADDING = frozenset({"IMAD", "LEA", "IADD3", "IADD", "VIADD", "UIADD3", "UIMAD", "ULEA", "IADD64"})
WIDE = frozenset({64, 128, 256})
MOVES = frozenset({"MOV", "IMAD.MOV.U32", "IMAD.MOV", "SEL", "CS2R"})
STACK = ("R", 1)


@idiom("64-bit address")
def wide_address(flow: DefUse) -> Iterator[Found]:
    """The two registers of a memory instruction's address come from IMAD.WIDE, or from an addition (IADD3,
    LEA) and its continuation with the carry (.X).  Those under one source line are reported together."""
    lines: dict[SourceLine | None, set[int]] = defaultdict(set)
    accesses: dict[SourceLine | None, set[int]] = defaultdict(set)
    for instruction in flow.instructions:
        words = flow.base_words(instruction.index)
        makers = flow.base_sources(instruction.index)
        if len(words) < 2 or not makers:
            continue
        for maker in makers:
            if _adds(flow, maker):
                source = flow.instructions[maker].source
                lines[source].add(maker)
                accesses[source].add(instruction.index)
    for source, made in lines.items():
        what = f"{counted(len(made), 'instruction')} for the addresses of"
        yield Found(f"{what} {counted(len(accesses[source]), 'memory instruction')}", made)


def _adds(flow: DefUse, index: int) -> bool:
    """The whole address, or one of its words with carry."""
    instruction = flow.instructions[index]
    if instruction.base not in ADDING or {"MOV", "HI"} == set(instruction.modifiers[:1]):
        return False
    carries = {"WIDE", "64", "X"} & set(instruction.modifiers)
    return bool(carries) or any(file in ("P", "UP") for file, _ in flow.writes[index])


@idiom("vectorised access")
def vectorised(flow: DefUse) -> Iterator[Found]:
    """A load or store of 64, 128 or 256 bits a lane, global or shared, with whose registers the same is done
    one by one; those of doubles, 64-bit integers and pointers are used in pairs or each in its way, and 64
    bits that are only moved could be one number.  Those under one source line are reported together."""
    groups: dict[tuple[SourceLine | None, str, int], list[int]] = defaultdict(list)
    for instruction in flow.instructions:
        found = access(instruction)
        if found is None or found.bits not in WIDE or found.action not in ("load", "store"):
            continue
        if found.space in ("global", "shared") and _one_by_one(flow, instruction.index, found.action):
            groups[instruction.source, f"{found.space} {found.action}", found.bits].append(instruction.index)
    for (_, what, bits), members in groups.items():
        yield Found(f"{bits // 32} elements of 32 bits at once in each {what}", members)


def _one_by_one(flow: DefUse, index: int, action: str) -> bool:
    """Whether the same is done to every register of a run."""
    if action == "load":
        words = sorted(flow.writes[index])
        parties = [_users(flow, index, word) for word in words]
    else:
        words = _stored(flow, index)
        parties = [flow.definers(index, word) for word in words]
    everybody = frozenset[int]().union(*parties)
    if any(_pairs(flow, i, words) for i in everybody):
        return False
    if len(words) == 2 and all(access(flow.instructions[i]) for i in everybody):
        return False
    kinds = {frozenset(_kind(flow, i) for i in party) for party in parties}
    return len(words) > 1 and len(kinds) == 1 and not any(kind & MOVES for kind in kinds)


def _users(flow: DefUse, index: int, word: Word) -> frozenset[int]:
    reading = [i for i in flow.users[index] if word in flow.reads[i]]
    return frozenset(i for i in reading if index in flow.definers(i, word))


def _pairs(flow: DefUse, index: int, words: list[Word]) -> bool:
    """Whether an instruction takes or makes two of the words as one number."""
    if access(flow.instructions[index]) is not None:
        return False
    return any(len(set(words) & touched) == 2 for touched in (flow.reads[index], flow.writes[index])) and (
        "WIDE" in flow.instructions[index].modifiers or flow.base(index)[0] == "D"
    )


def _kind(flow: DefUse, index: int) -> str:
    """The opcode, the three ways to add two integers as one."""
    opcode = flow.instructions[index].opcode
    return "IADD3" if opcode in ("IMAD.IADD", "VIADD") else opcode


def _stored(flow: DefUse, index: int) -> list[Word]:
    data = [o for o in flow.instructions[index].operands if isinstance(o, Register)][-1:]
    found = access(flow.instructions[index])
    if not data or data[0].index < 0 or found is None:
        return []
    return [(data[0].file, data[0].index + k) for k in range(found.bits // 32)]


@idiom("register spill")
def spill(flow: DefUse) -> Iterator[Found]:
    """A local store (STL) and a local load (LDL) at the same fixed place of the stack, R1 + offset: values
    that did not fit into registers."""
    stored, loaded = _fixed(flow, "STL"), _fixed(flow, "LDL")
    places = stored.keys() & loaded.keys()
    members = [i for place in places for i in stored[place] + loaded[place]]
    if members:
        yield Found(f"{counted(len(places), 'value')} in local memory for lack of registers", members)


@idiom("array in local memory")
def local_array(flow: DefUse) -> Iterator[Found]:
    """A local access at a computed address: an array indexed by a variable cannot be in registers."""
    members = [i for i in flow.named("LDL", "STL") if set(flow.base_words(i)) - {STACK}]
    if members:
        yield Found("an array with a variable index lies in local memory, not in registers", members)


def _fixed(flow: DefUse, base: str) -> dict[int, list[int]]:
    """Place on the stack -> accesses of it."""
    found: dict[int, list[int]] = defaultdict(list)
    for index in flow.named(base):
        address = flow.address(index)
        if address is not None and set(flow.base_words(index)) <= {STACK}:
            found[address.offset].append(index)
    return found
