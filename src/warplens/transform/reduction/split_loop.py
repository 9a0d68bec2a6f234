"""Split loop: the threads of a column of a block share the loop of one thread, and join what they have added up.

Where each thread adds up a column of its own, a small matrix has too few columns for a GPU.  With blocks of 32 x 32
threads the lanes of a warp read neighbours as before, and 32 warps share the rows.
"""

from __future__ import annotations

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import RowLoop, Sum, done_once, part_name, row_loops
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.guarded_index import BUILT_IN, GuardedIndex, NotSafe, guarded_index, inside
from warplens.transform.syntax.kernel_source import INTEGERS, KernelSource, LaunchFacts

WARP = 32
ROWS = (32, 16, 8)  # threads of a block in y
MOST_SHARED = 48 * 1024


@transform("small_grid")
def split_loop(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        index = guarded_index(kernel, launch, one_index=True)
        if index is None or index.form == "loop":
            return
        loops = row_loops(kernel, index)
        if any(loop.sums for loop in loops):
            for one in (one for loop in loops for one in loop.sums if one.place is not None):
                raise NotSafe(kernel.line(one.target), f"{kernel[one.target]} is kept with its place")
            _check(kernel, launch, index, loops)
            for rows in ROWS:
                yield _change(kernel, launch, index, loops, rows)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"the loop is not shared by several threads: {reason.reason}")


def _check(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, loops: list[RowLoop]) -> None:
    line = kernel.line(index.start)
    if launch.block[0] % WARP:
        raise NotSafe(line, f"blocks of {launch.block[0]} threads are no whole warps")
    if canonical(kernel, index.start) != "blockDim.x*blockIdx.x+threadIdx.x":
        raise NotSafe(line, "the block size is a number in the kernel")
    for node in kernel.find("identifier"):
        if kernel[node] in BUILT_IN and not inside(node, index.declarator):
            raise NotSafe(kernel.line(node), f"{kernel[node]} is used besides {index.name}")
    if index.others or (index.form == "if" and _size(kernel, launch, index) % WARP):
        raise NotSafe(kernel.line(index.guard), "some threads of a block would not come to the barrier")
    bytes_of_row = sum(kernel.element_bytes(one.type) or 8 for loop in loops for one in loop.sums) * WARP
    if bytes_of_row * ROWS[0] + launch.shared > MOST_SHARED:
        raise NotSafe(line, "what the threads have added up does not fit into shared memory")


def _size(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex) -> int:
    """Of the data: a number of the launch or of the file; 1 where it is not known."""
    form = canonical(kernel, index.bound)
    return int(form) if form.isdecimal() else int(launch.numbers.get(kernel[index.bound], 1))


def _change(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, loops: list[RowLoop], rows: int) -> Change:
    edits = [edit for loop in loops for edit in _shared_out(kernel, loop, rows)]
    edits += done_once(kernel, index, loops, "threadIdx.y == 0")
    whole = all(kernel.plain_type(one.type) in INTEGERS for loop in loops for one in loop.sums)
    promise = f"blocks of {WARP} x {rows} threads"
    if index.form == "if":
        promise += f"; {kernel[index.bound]} is a multiple of {WARP}"
    launched = LaunchChange((WARP, rows, 1), grid_times=launch.block[0] // WARP)
    title = f"{rows} threads for each {index.name}: they share the loop over {loops[0].counter}"
    return Change(
        "", title, kernel.line(loops[0].loop), tuple(edits), launched, "exact" if whole else "order", promise
    )  # fmt: skip


def _shared_out(kernel: KernelSource, loop: RowLoop, rows: int) -> list[Edit]:
    """The loop from the thread's row on, and behind it the sums of all rows."""
    start = "threadIdx.y" if canonical(kernel, loop.start) == "0" else f"{kernel[loop.start]} + threadIdx.y"
    edits = [
        Edit(loop.start.start_byte, loop.start.end_byte, start),
        Edit(loop.update.start_byte, loop.update.end_byte, f"{loop.counter} += {rows}"),
    ]
    if not loop.sums:
        return edits
    indent, step = kernel.indent(loop.loop), kernel.step
    half, before, names = kernel.fresh("half", "rows"), "", []
    for one in loop.sums:
        part = kernel[one.target] if one.whole else part_name(kernel, loop, one)
        names.append((one, part, kernel.fresh(f"{part}_of_row")))
        if not one.whole:
            before += f"{indent}{one.type} {part} = 0;\n"
            edits += [Edit(place.start_byte, place.end_byte, part) for place in one.places]
    mine, other = "[threadIdx.y][threadIdx.x]", f"[threadIdx.y + {half}][threadIdx.x]"
    joins = [one.joined(kernel, f"{array}{mine}", f"{array}{other}") for one, _, array in names]
    inner = f"{indent}{step}"
    several = "".join(f"\n{inner}{step}{join}" for join in joins)
    together = f" {joins[0]}" if len(joins) == 1 else f" {{{several}\n{inner}}}"
    lines = [
        *(f"__shared__ {one.type} {array}[{rows}][{WARP}];" for one, _, array in names),
        *(f"{array}{mine} = {part};" for _, part, array in names),
        "__syncthreads();",
        f"for (int {half} = {rows // 2}; {half} > 0; {half} /= 2) {{",
        f"{step}if (threadIdx.y < {half}){together}",
        f"{step}__syncthreads();",
        "}",
        *(_result(kernel, one, array) for one, _, array in names),
    ]
    pragma = loop.loop.prev_named_sibling
    top = pragma if pragma is not None and pragma.type == "preproc_call" else loop.loop
    if before:
        if not kernel.begins_line(top):
            raise NotSafe(kernel.line(top), "the loop does not begin a line")
        edits.append(Edit(kernel.line_start(top), kernel.line_start(top), before))
    behind = "".join(f"\n{indent}{line}" for line in lines)
    return [*edits, Edit(loop.loop.end_byte, loop.loop.end_byte, behind)]


def _result(kernel: KernelSource, one: Sum, array: str) -> str:
    """The statement that takes over what all rows have added up."""
    guard = "" if one.target.type == "identifier" else "if (threadIdx.y == 0) "
    return f"{guard}{kernel[one.target]} {'=' if one.whole else '+='} {array}[0][threadIdx.x];"
