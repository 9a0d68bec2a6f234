"""Control flow: reachable blocks, their successors and postdominators.  Padding lies after the last EXIT or RET."""

from __future__ import annotations

from warplens.core.program import Block, Label, Program

# After these, execution may continue in any block.
ANYWHERE = {"RET", "BRX", "BRXU", "JMP", "ENDCOLLECTIVE"}


def reachable_blocks(program: Program) -> set[int]:
    """Blocks that can be executed, by their first instruction."""
    by_start = {block.first: block for block in program.blocks}
    indirect = any(i.base in ANYWHERE for i in program.instructions)
    last = max((i.index for i in program.instructions if i.base in ("EXIT", "RET")), default=0)
    seen: set[int] = set()
    todo = [0] if not indirect else [b.first for b in program.blocks if b.first <= last]
    while todo:
        start = todo.pop()
        if start in seen or start not in by_start:
            continue
        seen.add(start)
        todo += [*by_start[start].successors, *called(program, by_start[start])]
        if _falls_through(program, by_start[start]):
            todo.append(by_start[start].last + 1)
    return seen


def successors(program: Program) -> dict[int, list[int]]:
    """Successors of each reachable block, by first instructions; after a computed jump every block."""
    everywhere = sorted(reachable_blocks(program))
    by_start = {block.first: block for block in program.blocks}
    collected = _collected(program)
    found: dict[int, list[int]] = {}
    for start in everywhere:
        block = by_start[start]
        last = program.instructions[block.last]
        if last.base == "ENDCOLLECTIVE" and last.guard is None and collected:
            found[start] = sorted(collected.intersection(everywhere))
            continue
        anywhere = last.base in ANYWHERE
        after = {block.last + 1} if _falls_through(program, block) else set()
        places = {*block.successors, *called(program, block), *after}
        found[start] = everywhere if anywhere else sorted(places.intersection(everywhere))
    return found


def postdominators(following: dict[int, list[int]], ends: set[int]) -> dict[int, frozenset[int]]:
    """Of each block those that all ways from it to the end pass, itself too; lanes may end in the blocks `ends`."""
    every = frozenset(following)
    last = {block for block, after in following.items() if block in ends or not after}
    found = {block: frozenset({block}) if block in last else every for block in following}
    changed = True
    while changed:
        changed = False
        for block in sorted(following, reverse=True):
            if block not in last:
                passed = frozenset({block}).union(every.intersection(*(found[after] for after in following[block])))
                changed, found[block] = changed or passed != found[block], passed
    return found


def between(block: int, following: dict[int, list[int]], behind: dict[int, frozenset[int]]) -> set[int]:
    """The blocks on ways from the end of a block to the first that all of them pass."""
    seen: set[int] = set()
    todo = [*following[block]]
    while todo:
        at = todo.pop()
        if at not in seen and (at == block or at not in behind[block]):
            seen.add(at)
            todo += following[at]
    return seen


def called(program: Program, block: Block) -> list[int]:
    """The target of a call at the block's end: up to sm_89 the compiler also exits loops by CALL.REL.NOINC."""
    last = program.instructions[block.last]
    labels = [operand for operand in last.operands if isinstance(operand, Label)]
    return [label.offset // 16 for label in labels[:1]] if last.base == "CALL" else []


def _collected(program: Program) -> set[int]:
    """Where lanes continue after ENDCOLLECTIVE: at the label of the WARPSYNC.COLLECTIVE that each came through.

    Nothing is known where one has a guard: lanes that it leaves out come to ENDCOLLECTIVE without a label.
    """
    begins = [i for i in program.instructions if i.base == "WARPSYNC" and "COLLECTIVE" in i.modifiers]
    if any(begin.guard is not None for begin in begins):
        return set()
    return {label.offset // 16 for begin in begins for label in begin.operands if isinstance(label, Label)}


def _falls_through(program: Program, block: Block) -> bool:
    last = program.instructions[block.last]
    if last.guard is not None:
        return True
    return last.base not in ("EXIT", "RET", "BRX", "BRXU", "JMP") and not (
        last.base == "BRA" and last.opcode == "BRA" and len(last.operands) == 1
    )
