"""Warp per row: what a thread adds up or stores in a loop along a row, the 32 lanes of a warp do together.

Where each thread walks along a row of its own, the lanes stand in 32 rows at any moment, each in a sector of its own.
Lanes that take every 32nd element of one row read neighbours, and shuffles join what they have added up.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import RowLoop, Sum, done_once, part_name, row_loops
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.guarded_index import LARGEST, GuardedIndex, NotSafe, guarded_index
from warplens.transform.syntax.joined_parts import before_loop
from warplens.transform.syntax.kernel_source import INTEGERS, KernelSource, LaunchFacts

WARP = 32
ALL = "0xffffffff"  # lanes that take part


@transform("uncoalesced_access")
def warp_per_row(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        index = guarded_index(kernel, launch, one_index=True, unguarded=True)
        if index is None or (index.form == "loop" and not kernel.begins_line(index.guard)):
            return
        loops = row_loops(kernel, index.body)
        if not loops:
            return
        yield _change(kernel, launch, index, loops)
        inner = row_loops(kernel, index.body, innermost=True)
        if inner != loops:
            yield _change(kernel, launch, index, inner)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no warp for each row: {reason.reason}")


def _change(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, loops: list[RowLoop]) -> Change:
    line = kernel.line(loops[0].loop)
    if launch.block[0] % WARP:
        raise NotSafe(line, f"blocks of {launch.block[0]} threads are no whole warps")
    if launch.grid[0] * launch.block[0] * WARP > LARGEST:
        raise NotSafe(line, f"the number of a thread may exceed {LARGEST:,}")
    lane = kernel.fresh("lane", "lane_of_warp")
    edits = _rows_of_warps(kernel, index, lane)
    for loop in loops:
        edits += _shared_loop(kernel, loop, lane)
    edits += done_once(kernel, index.body, loops, f"{lane} == 0")
    whole = all(kernel.plain_type(one.type) in INTEGERS for loop in loops for one in loop.sums)
    several = index.form == "loop" and launch.grid[0] >= launch.multiprocessors  # blocks enough, each with several rows
    return Change(
        "", f"a warp for each {index.name}: its lanes share the loop over {loops[0].counter}", line, tuple(edits),
        LaunchChange(grid_times=1 if several else WARP), "exact" if whole else "order",
        f"blocks of a multiple of {WARP} threads, {WARP} for each {index.name}",
    )  # fmt: skip


def _rows_of_warps(kernel: KernelSource, index: GuardedIndex, lane: str) -> list[Edit]:
    """The index counts warps instead of threads."""
    edits = [Edit(index.start.start_byte, index.start.end_byte, f"({kernel[index.start]}) / {WARP}")]
    if index.form != "loop":
        declaration = index.declarator.parent
        assert declaration is not None
        made = f"\n{kernel.indent(declaration)}int {lane} = threadIdx.x % {WARP};"
        return [*edits, Edit(declaration.end_byte, declaration.end_byte, made)]
    update = index.guard.child_by_field_name("update")
    step = update.child_by_field_name("right") if update is not None else None
    assert step is not None
    start, made = kernel.line_start(index.guard), f"{kernel.indent(index.guard)}int {lane} = threadIdx.x % {WARP};\n"
    divided = kernel[step] if step.type == "identifier" else f"({kernel[step]})"
    return [*edits, Edit(step.start_byte, step.end_byte, f"{divided} / {WARP}"), Edit(start, start, made)]


def _shared_loop(kernel: KernelSource, loop: RowLoop, lane: str) -> list[Edit]:
    """The loop from the lane's number on in steps of a warp, and behind it the sum of all lanes."""
    first = lane if canonical(kernel, loop.start) == "0" else f"{kernel[loop.start]} + {lane}"
    edits = [
        Edit(loop.start.start_byte, loop.start.end_byte, first),
        Edit(loop.update.start_byte, loop.update.end_byte, f"{loop.counter} += {WARP}"),
    ]
    indent, before, behind = kernel.indent(loop.around), "", ""
    for one in loop.sums:
        name = kernel[one.target] if one.whole else part_name(kernel, loop, one)
        offset = kernel.fresh("offset", "lanes")
        head = f"for (int {offset} = {WARP // 2}; {offset} > 0; {offset} /= 2)"
        if one.place is not None:
            behind += f"\n{indent}{head} {_first_place(kernel, one, offset, indent)}"
            continue
        behind += f"\n{indent}{head} {one.joined(kernel, name, f'__shfl_xor_sync({ALL}, {name}, {offset})')}"
        if not one.whole:
            before += f"{indent}{one.type} {name} = 0;\n"
            edits += [Edit(place.start_byte, place.end_byte, name) for place in one.places]
            guard = "" if one.local else f"if ({lane} == 0) "
            behind += f"\n{indent}{guard}{kernel[one.target]} += {name};"
    edits += before_loop(kernel, loop, before)
    return [*edits, Edit(loop.around.end_byte, loop.around.end_byte, behind)] if behind else edits


def _first_place(kernel: KernelSource, one: Sum, offset: str, indent: str) -> str:
    """Of equal values of two lanes the one with the smaller counter, which a loop would have met first."""
    assert one.place is not None
    value, place, inner = kernel[one.target], kernel[one.place], indent + kernel.step
    other, there = kernel.fresh(f"other_{value}", "other"), kernel.fresh(f"other_{place}", "there")
    kind = kernel[next(declared for declared in _types(kernel, place))]
    better = f"{other} {'>' if one.join == 'max' else '<'} {value}"
    lines = [
        f"{one.type} {other} = __shfl_xor_sync({ALL}, {value}, {offset});",
        f"{kind} {there} = __shfl_xor_sync({ALL}, {place}, {offset});",
        f"if ({better} || ({other} == {value} && {there} < {place})) {{",
        f"{kernel.step}{value} = {other};",
        f"{kernel.step}{place} = {there};",
        "}",
    ]
    return f"{{\n{inner}" + f"\n{inner}".join(lines) + f"\n{indent}}}"


def _types(kernel: KernelSource, name: str) -> Iterator[Node]:
    """Of its declarations."""
    for declarator in kernel.declarators(name):
        kind = declarator.parent.child_by_field_name("type") if declarator.parent is not None else None
        if kind is not None:
            yield kind
