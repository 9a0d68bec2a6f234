"""Sequential addressing: a reduction that begins with pairs half a block apart instead of neighbours.

The threads that work then lie together, and so do the elements that they access: no lanes part, no banks conflict.
"""

from __future__ import annotations

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.block_reduction import BlockReduction, block_reductions, with_for
from warplens.transform.syntax.for_loop import of_whole
from warplens.transform.syntax.guarded_index import NotSafe
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts


@transform("inactive_lanes", "bank_conflicts", "uncoalesced_access")
def sequential_addressing(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    plain = with_for(kernel)
    yield from of_whole(kernel, plain, _proposed(plain, launch))


def _proposed(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        found = [one for one in block_reductions(kernel, launch) if one.form == "neighbours"]
    except NotSafe as reason:
        yield Refusal("", reason.line, f"the reduction keeps its order: {reason.reason}")
        return
    for one in found:
        yield Change(
            "", "reduce by halves: pairs half a block apart", kernel.line(one.loop),
            (_head(kernel, one), *_round(kernel, one)), effect="order",
            promise=f"blocks of a power of two threads, all of which take part; of {one.array} only the result is used",
        )  # fmt: skip


def _head(kernel: KernelSource, one: BlockReduction) -> Edit:
    """`s = blockDim.x / 2; s > 0; s /= 2` instead of `s = 1; s < blockDim.x; s *= 2`."""
    begin, condition, update = (one.loop.child_by_field_name(name) for name in ("initializer", "condition", "update"))
    assert begin is not None
    assert condition is not None
    assert update is not None
    block = next(side for side in (condition.children[2], condition.children[0]) if kernel[side] != one.step)
    size = kernel.constant(block)
    half = str(size // 2) if size is not None else f"{kernel[block]} / 2"
    before = kernel.data[one.loop.start_byte : begin.start_byte].decode()
    named = kernel[begin].rstrip(";").rpartition("=")[0].rstrip()
    smaller = ">>= 1" if "<<" in kernel[update] else "/= 2"
    text = f"{before}{named} = {half}; {one.step} > 0; {one.step} {smaller}"
    return Edit(one.loop.start_byte, update.end_byte, text)


def _round(kernel: KernelSource, one: BlockReduction) -> list[Edit]:
    """The test of one round, and its elements, by the thread's number."""
    guard = one.test.child_by_field_name("condition")
    assert guard is not None
    edits = [Edit(guard.start_byte, guard.end_byte, f"({one.thread} < {one.step})")]
    for element in kernel.find("subscript_expression", within=one.update):
        index = element.children[1]
        second = index.start_byte == one.right.children[1].start_byte
        text = f"[{one.thread} + {one.step}]" if second else f"[{one.thread}]"
        if kernel[index] != text:
            edits.append(Edit(index.start_byte, index.end_byte, text))
    if one.helper is not None:
        edits.append(Edit(*kernel.whole_line(one.helper), ""))
    return edits
