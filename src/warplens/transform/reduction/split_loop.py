"""Split loop: the threads of a column of a block share the loop of one thread, and join what they have added up.

Where each thread adds up a column of its own, a small matrix has too few columns for a GPU.  With blocks of 32 x 32
threads the lanes of a warp read neighbours as before, and 32 warps share the rows.
"""

from __future__ import annotations

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import RowLoop, done_once, row_loops, stores
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.guarded_index import BUILT_IN, GuardedIndex, NotSafe, guarded_index, inside
from warplens.transform.syntax.joined_parts import Team, shared_out
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
        loops = row_loops(kernel, index.body)
        if any(loop.sums for loop in loops):
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
    if _leaves_some(kernel, launch, index):
        declared = index.declarator.parent
        earlier = [use for use in kernel.uses(index.name) if use.start_byte < index.guard.start_byte]
        fixed = declared is not None and "const" in kernel[declared].split("=")[0].split()
        if index.others or fixed or len(earlier) > 1 or not kernel.begins_line(index.guard):
            raise NotSafe(kernel.line(index.guard), "some threads of a block would not come to the barrier")
        summed = {kernel[place] for loop in loops for one in loop.sums for place in one.places}
        for node in (node for loop in loops for node in stores(kernel, loop.loop)):
            if kernel[node] not in summed and not kernel.declarators(kernel[node.children[0]]):
                raise NotSafe(kernel.line(node), f"threads beyond the data would change {kernel[node]} again")
    bytes_of_row = sum(kernel.element_bytes(one.type) or 8 for loop in loops for one in loop.sums) * WARP
    if bytes_of_row * ROWS[0] + launch.shared > MOST_SHARED:
        raise NotSafe(line, "what the threads have added up does not fit into shared memory")


def _leaves_some(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex) -> bool:
    """Whether there are threads beyond the data."""
    return bool(index.others) or _size(kernel, launch, index) % WARP > 0


def _size(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex) -> int:
    """Of the data: a number of the launch or of the file; 1 where it is not known."""
    form = canonical(kernel, index.bound)
    return int(form) if form.isdecimal() else int(launch.numbers.get(kernel[index.bound], 1))


def _change(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, loops: list[RowLoop], rows: int) -> Change:
    first, edits = "threadIdx.y == 0", list[Edit]()
    if _leaves_some(kernel, launch, index):
        own = kernel.fresh("own", f"own_{index.name}")
        first += f" && {own}"
        edits.append(_all_stay(kernel, index, own))
    edits += [edit for loop in loops for edit in shared_out(kernel, loop, _team(rows, first), "row")]
    edits += done_once(kernel, index.body, loops, first)
    whole = all(kernel.plain_type(one.type) in INTEGERS or one.place for loop in loops for one in loop.sums)
    promise = f"blocks of {WARP} x {rows} threads"
    if len(first) == len("threadIdx.y == 0"):
        promise += f"; {kernel[index.bound]} is a multiple of {WARP}"
    launched = LaunchChange((WARP, rows, 1), grid_times=launch.block[0] // WARP)
    title = f"{rows} threads for each {index.name}: they share the loop over {loops[0].counter}"
    return Change(
        "", title, kernel.line(loops[0].loop), tuple(edits), launched, "exact" if whole else "order", promise
    )  # fmt: skip


def _all_stay(kernel: KernelSource, index: GuardedIndex, own: str) -> Edit:
    """Threads beyond the data do as the last one does: they have to come to the barriers."""
    then, bound = index.guard.child_by_field_name("consequence"), kernel[index.bound]
    indent = kernel.indent(index.guard)
    assert then is not None
    text = f"bool {own} = {index.name} < {bound};\n{indent}if (!{own}) {index.name} = {bound} - 1;"
    if index.form == "return":
        return Edit(index.guard.start_byte, index.guard.end_byte, text)
    return Edit(index.guard.start_byte, then.start_byte, f"{text}\n{indent}")


def _team(rows: int, first: str) -> Team:
    return Team(
        "threadIdx.y", str(rows), str(rows // 2), f"[{rows}][{WARP}]", "[threadIdx.y][threadIdx.x]",
        "[threadIdx.y + {half}][threadIdx.x]", "[0][threadIdx.x]", first,
    )  # fmt: skip
