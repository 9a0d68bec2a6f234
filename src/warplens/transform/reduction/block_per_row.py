"""Block per row: what a thread adds up in a loop, the threads of a whole block do together.

With few rows, or columns, most of the GPU has no warp even where each gets one; a block for each gets more of it to
work.  The block's threads read neighbours where the loop walks along a row.
"""

from __future__ import annotations

from warplens.transform._change import Change, Edit, Effect, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.accumulation import RowLoop, done_once, row_loops
from warplens.transform.syntax.guarded_index import GuardedIndex, NotSafe, guarded_index
from warplens.transform.syntax.joined_parts import Team, shared_out
from warplens.transform.syntax.kernel_source import INTEGERS, KernelSource, LaunchFacts

THREADS = 256  # of a block
MOST_ROWS = 2**16  # with more a warp for each has enough to do
MOST_SHARED = 48 * 1024
TEAM = Team("threadIdx.x", "blockDim.x", "blockDim.x / 2", f"[{THREADS}]", "[threadIdx.x]", "[threadIdx.x + {half}]",
            "[0]", "threadIdx.x == 0")  # fmt: skip


@transform("small_grid")
def block_per_row(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        index = guarded_index(kernel, launch, one_index=True, unguarded=True)
        if index is None or index.form == "loop":
            return
        loops = row_loops(kernel, index.body)
        inner = row_loops(kernel, index.body, innermost=True)
        for chosen in (loops, inner) if inner != loops else (loops,):
            if any(loop.sums for loop in chosen):
                yield _change(kernel, launch, index, chosen)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no block for each row: {reason.reason}")


def _change(kernel: KernelSource, launch: LaunchFacts, index: GuardedIndex, loops: list[RowLoop]) -> Change:
    line = kernel.line(loops[0].loop)
    if launch.grid[0] * launch.block[0] > MOST_ROWS:
        raise NotSafe(line, f"there would be {launch.grid[0] * launch.block[0]:,} blocks")
    sizes = [kernel.element_bytes(one.type) or 8 for loop in loops for one in loop.sums]
    if sum(sizes) * THREADS + launch.shared > MOST_SHARED:
        raise NotSafe(line, "what the threads have added up does not fit into shared memory")
    edits = [Edit(index.start.start_byte, index.start.end_byte, "blockIdx.x")]
    edits += [edit for loop in loops for edit in shared_out(kernel, loop, TEAM, "thread")]
    edits += done_once(kernel, index.body, loops, TEAM.first)
    whole = all(kernel.plain_type(one.type) in INTEGERS for loop in loops for one in loop.sums)
    effect: Effect = "exact" if whole else "order"
    return Change(
        "", f"a block for each {index.name}: its threads share the loop over {loops[0].counter}", line, tuple(edits),
        LaunchChange((THREADS, 1, 1), grid_times=launch.block[0]), effect,
        f"blocks of a power of two threads, {THREADS} at most, one for each {index.name}",
    )  # fmt: skip
