"""Parallel idioms: bounds checks, early exits, tree reductions."""

from __future__ import annotations

from collections.abc import Iterator

from warplens.core.program import Loop, Special
from warplens.counters.idioms._def_use import DefUse, immediates
from warplens.counters.idioms._idiom import Found, idiom
from warplens.counters.opcodes import access, category

INTEGER = frozenset({"integer", "move and select", "uniform", "constant memory"})
HALVES = ([16, 8, 4, 2, 1], [1, 2, 4, 8, 16])


@idiom("bounds check")
def bounds_check(flow: DefUse) -> Iterator[Found]:
    """An EXIT or a branch over the rest whose guard compares (ISETP) what threadIdx or blockIdx went into,
    before anything is read or written."""
    for index in _ends(flow):
        compares = _compares(flow, index)
        if compares and not _touched(flow, index):
            yield Found("threads past the end of the data exit at once", compares | {index})


@idiom("early exit")
def early_exit(flow: DefUse) -> Iterator[Found]:
    """The same after memory has been touched: from here on only some threads go on."""
    for index in _ends(flow):
        compares = _compares(flow, index)
        if compares and _touched(flow, index):
            yield Found("only some threads of the block go on from here", compares | {index})


def _ends(flow: DefUse) -> list[int]:
    """Guarded EXITs, and branches to one."""
    return [i for i in flow.named("EXIT", "BRA") if flow.guard_sources(i) and _leads_out(flow, i)]


def _leads_out(flow: DefUse, index: int) -> bool:
    if flow.base(index) == "EXIT":
        return True
    blocks = {block.first: block for block in flow.program.blocks}
    following = flow.block_of[index].successors
    if len(following) < 2:
        return False
    target = blocks[following[1]]
    while flow.base(target.last) == "BSYNC" and target.first == target.last and target.successors:
        target = blocks[target.successors[0]]
    first = flow.instructions[target.first]
    return first.base == "EXIT" and first.guard is None


def _compares(flow: DefUse, index: int) -> set[int]:
    """The comparisons of the guard, if one of them looks at the thread's place."""
    near = flow.reach(flow.guard_sources(index), lambda i: _predicates(flow, i))
    tests = {i for i in near if flow.base(i) in ("ISETP", "LOP3")}
    back = flow.reach(tests, lambda i: [s for s in flow.sources(i) if _plain(flow, s)])
    places = [o.name for i in back for o in flow.instructions[i].operands if isinstance(o, Special)]
    return tests if any(name.startswith(("SR_TID", "SR_CTAID")) for name in places) else set()


def _predicates(flow: DefUse, index: int) -> list[int]:
    return [i for i in flow.sources(index) if any(file in ("P", "UP") for file, _ in flow.writes[i])]


def _plain(flow: DefUse, index: int) -> bool:
    """Integer arithmetic, but not that of a division."""
    instruction = flow.instructions[index]
    return category(instruction) in INTEGER and "HI" not in instruction.modifiers[:1]


def _touched(flow: DefUse, index: int) -> bool:
    """Whether memory is read or written on a way to the instruction."""
    found = (access(i) for i in flow.instructions[:index])
    return any(a is not None and a.space != "constant" for a in found)


@idiom("warp shuffle reduction")
def shuffle_tree(flow: DefUse) -> Iterator[Found]:
    """SHFL by 16, 8, 4, 2, 1 lanes (or the other way round, or a part of three or more), each of what the one
    before gave after at most one operation."""
    shuffles = [i for i in flow.named("SHFL") if _distance(flow, i)]
    following = {i: [j for j in shuffles if j > i and _feeds(flow, i, j)] for i in shuffles}
    used: set[int] = set()
    for start in shuffles:
        chain = [start]
        while start not in used and (next_ := following[chain[-1]]):
            chain.append(next_[0])
        distances = [_distance(flow, i) for i in chain]
        if len(chain) >= 3 and any(_within(distances, halves) for halves in HALVES):
            used |= set(chain)
            combining = {k for i in chain for k in flow.users[i]}
            listed = ", ".join(map(str, distances))
            yield Found(f"a tree over the lanes of a warp: {listed}", {*chain, *combining})


def _distance(flow: DefUse, index: int) -> int:
    found = immediates(flow.instructions[index])
    return found[0] if len(found) >= 2 else 0


def _feeds(flow: DefUse, first: int, then: int) -> bool:
    sources = flow.sources(then)
    return first in sources or any(first in flow.sources(i) for i in sources)


def _within(part: list[int], whole: list[int]) -> bool:
    return any(whole[k : k + len(part)] == part for k in range(len(whole)))


@idiom("tree reduction", encloses=True)
def block_tree(flow: DefUse) -> Iterator[Found]:
    """A loop with a barrier (BAR), a load and a store of the same memory, and a register that is halved or
    doubled in every round."""
    for loop in flow.program.loops:
        members = flow.body(loop)
        bases = {flow.base(i) for i in members}
        memory = next((m for m, pair in MEMORIES.items() if pair <= bases), None)
        shifts = [i for i in members if _halves_or_doubles(flow, i) and _carried(flow, loop, i)]
        if memory and shifts and "BAR" in bases:
            way = "halves" if "R" in flow.instructions[shifts[0]].modifiers else "doubles"
            sentence = f"a tree over the block in {memory}: the distance {way} in every round, with a barrier"
            yield Found(sentence, members, f"tree reduction in {memory}")


MEMORIES = {"shared memory": {"LDS", "STS"}, "global memory": {"LDG", "STG"}}


def _halves_or_doubles(flow: DefUse, index: int) -> bool:
    instruction = flow.instructions[index]
    by_one = immediates(instruction) == [1]
    doubled = instruction.opcode == "IMAD.SHL.U32" and immediates(instruction) == [2]
    return (instruction.base in ("SHF", "USHF") and by_one) or doubled


def _carried(flow: DefUse, loop: Loop, index: int) -> bool:
    """Whether the shifted value comes round the loop, maybe by a move."""
    members = set(flow.body(loop))
    moves = {i for i in members if _moves(flow, i)}
    back = flow.reach([index], lambda i: flow.sources(i) & moves)
    return any(index in flow.sources(i) for i in back)


def _moves(flow: DefUse, index: int) -> bool:
    return flow.base(index) in ("MOV", "UMOV") or flow.instructions[index].opcode.startswith("IMAD.MOV")
