"""Missing __restrict__: loads wait behind a store, because the store might write what they read.

`const float* __restrict__ x` promises that nothing else writes what x points to: then the loads of several elements go
first and are under way at once, through the read-only path (LDG.CONSTANT).  Only pointers that the kernel stores
nothing through, and that its source does not declare so.  Nsight Compute: no rule.
"""

from __future__ import annotations

from typing import NamedTuple

from warplens.compiler.signature import declarations, declared_name
from warplens.core.program import Constant
from warplens.counters.opcodes import access, category
from warplens.rules._counted_launch import CountedLaunch, executed, line_with_most, work
from warplens.rules._rule import Finding, rule

POINTER_BYTES = 8
ARITHMETIC = frozenset({"integer", "move and select", "uniform", "constant memory"})


class MissingRestrictEvidence(NamedTuple):
    """Names of the pointers; loads in sequence behind a store, of all their loads (machine instructions)."""

    pointers: tuple[str, ...]
    behind: int
    loads: int


@rule(
    threshold=0.05,
    reads=("smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum"),
    fires="unrolling/3_four_times",
    silent="unrolling/9_restrict",
)
def missing_restrict(launch: CountedLaunch) -> Finding | None:
    behind = loads_behind_stores(launch)
    if not behind:
        return None
    stores = {name for index in globals_of(launch, "store", "atomic", "reduction") for name in pointers(launch, index)}
    plain = {name for name in written_pointers(launch) if name not in stores}
    waiting = {index: name for index in behind if len(names := pointers(launch, index)) == 1 for name in names}
    waiting = {index: name for index, name in waiting.items() if name in plain}
    if not waiting:
        return None
    loads = [i for i in globals_of(launch, "load") if pointers(launch, i) & set(waiting.values())]
    amounts = {index: float(launch.trace.sectors[index]) for index in waiting}
    # a quarter: the same instructions and sectors, only later
    weight = sum(amounts.values()) / work(launch) / 4
    evidence = MissingRestrictEvidence(tuple(sorted(set(waiting.values()))), len(waiting), len(loads))
    return Finding("missing_restrict", weight, evidence, line_with_most(launch, amounts))


def loads_behind_stores(launch: CountedLaunch) -> list[int]:
    """Loads of global memory that follow a store in the same straight piece of code."""
    found = []
    for block in launch.program.blocks:
        stored = False
        for index in range(block.first, block.last + 1):
            instruction = launch.program.instructions[index]
            use = access(instruction)
            if not use or use.space != "global" or not executed(launch, [index]):
                continue
            if use.action == "store":
                stored = True
            elif stored and use.action == "load" and "CONSTANT" not in instruction.modifiers:
                found.append(index)
    return found


def globals_of(launch: CountedLaunch, *actions: str) -> list[int]:
    """Executed instructions that do this to global memory."""
    return [
        i.index for i in launch.program.instructions
        if (use := access(i)) and use.space in ("global", "generic") and use.action in actions
        and launch.trace.executed[i.index]
    ]  # fmt: skip


def pointers(launch: CountedLaunch, index: int) -> set[str]:
    """Names of the pointer parameters that the address comes from, by arithmetic alone."""
    flow = launch.flow

    def terms(maker: int) -> frozenset[int]:
        return flow.sources(maker) if category(flow.instructions[maker]) in ARITHMETIC else frozenset()

    makers = flow.reach(flow.base_sources(index), terms)
    constants = [o for i in makers for o in flow.instructions[i].operands if isinstance(o, Constant) and o.bank == 0]
    starts = {p.offset for p in launch.kernel.parameters if p.size == POINTER_BYTES}
    names = {launch.name_of(c) for c in constants if c.offset - launch.kernel.parameter_base in starts}
    return {name for name in names if name}


def written_pointers(launch: CountedLaunch) -> set[str]:
    """Parameters that the source declares without __restrict__."""
    kernel = launch.kernel
    for source in launch.sources.values():
        if found := declarations(source, kernel.name, len(kernel.parameters)):
            return {declared_name(text) for text in found if "*" in text and "restrict" not in text}
    return set()
