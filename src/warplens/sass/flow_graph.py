"""Flow graph of a kernel: basic blocks, dominators, natural loops.

Blocks are those of one function at a time: a call continues after itself, a return has no successor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from warplens.core.program import Block, Instruction, Label, Loop

STOPS = frozenset(("EXIT", "KILL", "RET", "BRX", "BRXU", "JMP", "JMX", "JMXU", "ENDCOLLECTIVE"))
"""Without a guard, the next instruction is not reached from these."""

PAUSES = frozenset(("BSYNC", "BREAK", "BAR", "WARPSYNC", "YIELD", "NANOSLEEP", "BPT", "UCGABAR_WAIT"))
"""After these another warp, or another part of the warp, may run before the next instruction."""

WAITS = frozenset(("TRYWAIT", "TRY_ALLOC", "DEPBAR"))
"""The modifiers of instructions that are executed again when others have run; DEPBAR is one of WARPGROUP."""

ENDS = STOPS | PAUSES | {"BRA", "CALL"}

JUMPS = frozenset(("BRA", "JMP", "WARPSYNC"))
"""Their label is reached from them, within the function."""

REFERENCES = JUMPS | {"CALL", "LEPC"}
"""Their label is reached, maybe from elsewhere."""


def waits(instruction: Instruction) -> bool:
    """Whether it is executed again until what it waits for has happened; then it is a block of its own."""
    return not WAITS.isdisjoint(instruction.modifiers) or instruction.base == "UCGABAR_WAIT"


def basic_blocks(
    instructions: Sequence[Instruction],
    entries: Iterable[int] = (),
    branch_targets: Mapping[int, tuple[int, ...]] | None = None,
) -> tuple[Block, ...]:
    """Blocks in code order that cover every instruction once.

    entries: byte offsets of functions; branch_targets: offset of an indirect branch -> offsets it can go to.
    """
    indirect = branch_targets or {}
    count = len(instructions)
    leaders = {0, *(entry // 16 for entry in entries)}
    for instruction in instructions:
        leaders.update(target // 16 for target in indirect.get(instruction.offset, ()))
        if instruction.base in REFERENCES:
            leaders.update(target // 16 for target in _labels(instruction))
        if waits(instruction):
            leaders.update((instruction.index, instruction.index + 1))
        if instruction.base in ENDS:
            leaders.add(instruction.index + 1)
    firsts = sorted(leader for leader in leaders if 0 <= leader < count)
    lasts = [first - 1 for first in firsts[1:]] + [count - 1]
    return tuple(
        Block(first, last, _successors(instructions[last], indirect, count))
        for first, last in zip(firsts, lasts, strict=True)
        if count
    )


def _labels(instruction: Instruction) -> list[int]:
    return [operand.offset for operand in instruction.operands if isinstance(operand, Label)]


def _successors(last: Instruction, indirect: Mapping[int, tuple[int, ...]], count: int) -> tuple[int, ...]:
    """The next instruction first, then the targets."""
    targets = list(indirect.get(last.offset, ()))
    if last.base in JUMPS:
        targets += _labels(last)
    places = [] if _never_falls_through(last) else [last.index + 1]
    places += [target // 16 for target in targets]
    return tuple(dict.fromkeys(place for place in places if 0 <= place < count))


def _never_falls_through(instruction: Instruction) -> bool:
    if instruction.guard is not None:
        return False
    if instruction.base == "BRA":  # with a second operand or DIV, CONV it has a condition
        return len(instruction.operands) == 1 and not {"DIV", "CONV"} & set(instruction.modifiers)
    return instruction.base in STOPS


def dominators(blocks: Sequence[Block], entries: Iterable[int] = (0,)) -> dict[int, int | None]:
    """The immediate dominator of every block that is reached, all by index of first instruction.

    `entries` are first instructions of functions; their dominator is None, as is that of code shared by two.
    The method is Cooper, Harvey and Kennedy's, "A simple, fast dominance algorithm" (2001).
    """
    successors = {block.first: block.successors for block in blocks}
    roots = [entry for entry in dict.fromkeys(entries) if entry in successors]
    order = _reverse_postorder(successors, roots)
    rank: dict[int | None, int] = {None: -1} | {first: k for k, first in enumerate(order)}
    predecessors: dict[int, list[int]] = {first: [] for first in order}
    for first in order:
        for successor in successors[first]:
            predecessors[successor].append(first)
    above: dict[int, int | None] = dict.fromkeys(roots)
    changed = True
    while changed:
        changed = False
        for first in order:
            if first in roots:
                continue
            known = [p for p in predecessors[first] if p in above]
            best: int | None = known[0]
            for other in known[1:]:
                best = _common(best, other, above, rank)
            if first not in above or above[first] != best:
                above[first], changed = best, True
    return above


def _common(
    a: int | None, b: int | None, above: Mapping[int, int | None], rank: Mapping[int | None, int]
) -> int | None:
    while a != b:
        if rank[a] > rank[b]:
            a = above[a] if a is not None else None
        else:
            b = above[b] if b is not None else None
    return a


def _reverse_postorder(successors: Mapping[int, tuple[int, ...]], roots: Iterable[int]) -> list[int]:
    seen: set[int] = set()
    done: list[int] = []
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            first, rest = stack[-1]
            following = next((s for s in rest if s not in seen), None)
            if following is None:
                done.append(first)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(successors[following])))
    return done[::-1]


def natural_loops(blocks: Sequence[Block], entries: Iterable[int] = (0,)) -> tuple[Loop, ...]:
    """Loops in code order of their headers; back edges to one header make one loop.

    The loop of never executed padding (`BRA` to itself after the last EXIT) is none, as nothing reaches it.
    """
    above = dominators(blocks, entries)
    predecessors: dict[int, list[int]] = {}
    tails: dict[int, list[int]] = {}
    for block in blocks:
        if block.first not in above:
            continue
        for successor in block.successors:
            predecessors.setdefault(successor, []).append(block.first)
            if _dominates(successor, block.first, above):
                tails.setdefault(successor, []).append(block.first)
    bodies = {header: _body(header, ends, predecessors) for header, ends in sorted(tails.items())}
    return tuple(
        Loop(header, body, sum(header in other for other in bodies.values())) for header, body in bodies.items()
    )


def _dominates(a: int, b: int | None, above: Mapping[int, int | None]) -> bool:
    while b is not None and b != a:
        b = above[b]
    return a == b


def _body(header: int, tails: Iterable[int], predecessors: Mapping[int, list[int]]) -> frozenset[int]:
    body = {header}
    waiting = list(tails)
    while waiting:
        first = waiting.pop()
        if first not in body:
            body.add(first)
            waiting += predecessors.get(first, [])
    return frozenset(body)
