"""Joined parts: a loop that threads of a block share, and what they have added up, joined by halves behind it."""

from __future__ import annotations

from dataclasses import dataclass

from warplens.transform._change import Edit
from warplens.transform.syntax.accumulation import RowLoop, Sum, part_name
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.guarded_index import NotSafe
from warplens.transform.syntax.kernel_source import KernelSource


@dataclass(frozen=True)
class Team:
    """The threads that share a loop.

    thread   the number of one, "threadIdx.y";  size: how many they are, as text;  half: of that
    shape    of a shared array with a part for each, "[8][32]";  place, other: of its own part and of one `{half}` away
    whole    the place of what is joined;  first: the condition of the thread that stores it
    """

    thread: str
    size: str
    half: str
    shape: str
    place: str
    other: str
    whole: str
    first: str


def shared_out(kernel: KernelSource, loop: RowLoop, team: Team, suffix: str) -> list[Edit]:
    """The loop from the thread's number on, and behind it the sums of all.  suffix: of the shared arrays' names"""
    start = team.thread if canonical(kernel, loop.start) == "0" else f"{kernel[loop.start]} + {team.thread}"
    edits = [
        Edit(loop.start.start_byte, loop.start.end_byte, start),
        Edit(loop.update.start_byte, loop.update.end_byte, f"{loop.counter} += {team.size}"),
    ]
    if not loop.sums:
        return edits
    indent, step, before = kernel.indent(loop.around), kernel.step, ""
    half, parts = kernel.fresh("half", "rows"), list[tuple[Sum, str, str]]()
    for one in loop.sums:
        part = kernel[one.target] if one.whole else part_name(kernel, loop, one)
        parts.append((one, part, kernel.fresh(f"{part}_of_{suffix}")))
        if not one.whole:
            before += f"{indent}{one.type} {part} = 0;\n"
            edits += [Edit(place.start_byte, place.end_byte, part) for place in one.places]
    arrays = [(one.type, array, part) for one, part, array in parts]
    kept = {part: f"{kernel[one.place]}_of_{suffix}" for one, part, _ in parts if one.place is not None}
    arrays += [("int", kept[part], kernel[one.place]) for one, part, _ in parts if one.place is not None]
    other = team.other.format(half=half)
    joins = [
        line for one, part, array in parts for line in _joined(kernel, one, array, kept.get(part, ""), team, other)
    ]  # fmt: skip
    inner = f"{indent}{step}"
    several = "".join(f"\n{inner}{step}{join}" for join in joins)
    together = f" {joins[0]}" if len(joins) == 1 else f" {{{several}\n{inner}}}"
    lines = [
        *(f"__shared__ {kind} {array}{team.shape};" for kind, array, _ in arrays),
        *(f"{array}{team.place} = {value};" for _, array, value in arrays),
        "__syncthreads();",
        f"for (int {half} = {team.half}; {half} > 0; {half} /= 2) {{",
        f"{step}if ({team.thread} < {half}){together}",
        f"{step}__syncthreads();",
        "}",
        *(_result(kernel, one, array, team) for one, _, array in parts),
        *(f"{kernel[one.place]} = {kept[part]}{team.whole};" for one, part, _ in parts if one.place is not None),
    ]
    edits += before_loop(kernel, loop, before)
    behind = "".join(f"\n{indent}{line}" for line in lines)
    return [*edits, Edit(loop.around.end_byte, loop.around.end_byte, behind)]


def before_loop(kernel: KernelSource, loop: RowLoop, declared: str) -> list[Edit]:
    """Declarations in front of a loop and of its pragma, [] for none.  NotSafe where it does not begin a line."""
    pragma = loop.around.prev_named_sibling
    top = pragma if pragma is not None and pragma.type == "preproc_call" else loop.around
    if declared and not kernel.begins_line(top):
        raise NotSafe(kernel.line(top), "the loop does not begin a line")
    return [Edit(kernel.line_start(top), kernel.line_start(top), declared)] if declared else []


def _joined(kernel: KernelSource, one: Sum, array: str, kept: str, team: Team, other: str) -> list[str]:
    """The statements that join another thread's part to one; of equal values the one with the smaller counter stays."""
    mine = f"{array}{team.place}"
    if not kept:
        return [one.joined(kernel, mine, f"{array}{other}")]
    sign, step = ">" if one.join == "max" else "<", kernel.step
    nearer = f"{array}{other} == {mine} && {kept}{other} < {kept}{team.place}"
    return [
        f"if ({array}{other} {sign} {mine} ||",
        f"    ({nearer})) {{",
        f"{step}{mine} = {array}{other};",
        f"{step}{kept}{team.place} = {kept}{other};",
        "}",
    ]


def _result(kernel: KernelSource, one: Sum, array: str, team: Team) -> str:
    """The statement that takes over what all have added up."""
    guard = "" if one.local else f"if ({team.first}) "
    return f"{guard}{kernel[one.target]} {'=' if one.whole else '+='} {array}{team.whole};"
