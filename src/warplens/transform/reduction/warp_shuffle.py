"""Warp shuffle: the rounds of a reduction that one warp can do, from register to register and without barriers."""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.block_reduction import (
    BARRIER,
    BlockReduction,
    block_reductions,
    check_all_take_part,
    first_thread_only,
    is_barrier,
    swapped,
    value_names,
    with_for,
)
from warplens.transform.syntax.canonical_form import canonical
from warplens.transform.syntax.for_loop import of_whole
from warplens.transform.syntax.guarded_index import NotSafe
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

WARP = 32
ALL = "0xffffffff"  # lanes that take part
LONGEST = 100  # characters of a line, without its indentation


@transform()
def warp_shuffle(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    plain = with_for(kernel)
    yield from of_whole(kernel, plain, _proposed(plain, launch))


def _proposed(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        for one in block_reductions(kernel, launch):
            if one.form == "halves" and launch.threads >= 2 * WARP:
                yield from _changes(kernel, one, check_all_take_part(kernel, launch, one))
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no shuffles in the reduction: {reason.reason}")


def _changes(kernel: KernelSource, one: BlockReduction, promise: str) -> Proposals:
    line = kernel.line(one.loop)
    if (kernel.element_bytes(one.element) or 0) < 4 and one.element not in kernel.type_parameters:
        yield Refusal("", line, f"no shuffles in the reduction: {one.element or 'its type'} may not be shuffled")
        return
    kept = f"blocks of a power of two threads; of {one.array} only the result is used"
    promise = f"{kept}; {promise}" if promise else kept
    title = "reduce in registers: each warp by shuffles, then the first warp"
    yield Change("", title, line, _whole(kernel, one), effect="order", promise=promise)
    if one.local:
        return
    yield Change("", "the last rounds of the reduction by shuffles", line, _last_warp(kernel, one), promise=promise)


def _last_warp(kernel: KernelSource, one: BlockReduction) -> tuple[Edit, ...]:
    indent = kernel.indent(one.loop)
    value, t = kernel.fresh(*value_names(kernel, one)), one.thread
    first = kernel.replaced(_right(one), swapped(one, f"{one.array}[{t}]", f"{one.array}[{t} + {WARP}]"))
    operator = kernel[_assignment(one).children[1]].removesuffix("=")
    if operator:
        first = f"{one.array}[{t}] {operator} {first}"
    lines = [
        *([f"{BARRIER}();"] if one.barrier_first else []),
        f"if ({t} < {WARP}) {{",
        f"{kernel.step}{one.element} {value} = {first};",
        _shuffles(kernel, one, value, str(WARP // 2), kernel.step),
        f"{kernel.step}if ({t} == 0) {one.array}[0] = {value};",
        "}",
        *([] if one.barrier_first or first_thread_only(kernel, one) else [f"{BARRIER}();"]),
    ]
    condition = one.loop.child_by_field_name("condition")
    assert condition is not None
    end = one.loop.end_byte
    return (
        Edit(condition.start_byte, condition.end_byte, f"{one.step} > {WARP}"),
        Edit(end, end, f"\n{_indented(lines, indent)}"),
    )


def _whole(kernel: KernelSource, one: BlockReduction) -> tuple[Edit, ...]:
    indent, t = kernel.indent(one.loop), one.thread
    value, warps = one.local or kernel.fresh(*value_names(kernel, one)), kernel.fresh("of_warp")
    lines = [
        f"__shared__ {one.element} {warps}[{WARP}];",
        *([] if _own_element(kernel, one) else [f"{BARRIER}();"]),
        *([] if one.local else [f"{one.element} {value} = {one.array}[{t}];"]),
        _shuffles(kernel, one, value, str(WARP // 2)),
        f"if ({t} % {WARP} == 0) {warps}[{t} / {WARP}] = {value};",
        f"{BARRIER}();",
        f"if ({t} < {WARP}) {{",
        f"{kernel.step}if ({t} < blockDim.x / {WARP}) {value} = {warps}[{t}];",
        _shuffles(kernel, one, value, f"blockDim.x / {2 * WARP}", kernel.step),
        f"{kernel.step}if ({t} == 0) {one.array}[0] = {value};",
        "}",
        *([] if one.barrier_first or first_thread_only(kernel, one) else [f"{BARRIER}();"]),
    ]
    pragma = one.loop.prev_named_sibling
    first = pragma if pragma is not None and pragma.type == "preproc_call" else one.loop
    start = kernel.line_start(first)
    return (Edit(start, one.loop.end_byte, _indented(lines, indent)),)


def _indented(lines: list[str], indent: str) -> str:
    return "\n".join(indent + line for text in lines for line in text.split("\n"))


def _shuffles(kernel: KernelSource, one: BlockReduction, value: str, first: str, indent: str = "") -> str:
    other = f"__shfl_down_sync({ALL}, {value}, {one.step})"
    update = f"{kernel.replaced(one.operation, swapped(one, value, other))};"
    halved = ">>= 1" if ">>" in kernel[one.loop].split(")")[0] else "/= 2"
    head = f"{indent}for (int {one.step} = {first}; {one.step} > 0; {one.step} {halved})"
    whole = f"{head} {update}"
    return whole if len(whole) <= LONGEST else f"{head}\n{indent}{kernel.step}{update}"


def _assignment(one: BlockReduction) -> Node:
    return one.update.named_children[0]


def _right(one: BlockReduction) -> Node:
    return _assignment(one).children[2]


def _own_element(kernel: KernelSource, one: BlockReduction) -> bool:
    """Whether each thread reads only what it wrote itself, or a barrier stands before the loop."""
    before = one.loop.prev_named_sibling
    while before is not None and before.type in ("comment", "preproc_call"):
        before = before.prev_named_sibling
    if before is not None and is_barrier(kernel, before):
        return True
    for use in kernel.uses(one.array):
        up = use.parent
        stored = up is not None and up.parent is not None and up.parent.type == "assignment_expression" and (
            up.parent.children[0] == up
        )  # fmt: skip
        if use.start_byte < one.loop.start_byte and stored and up is not None:
            index = up.children[1].named_children[0] if up.type == "subscript_expression" else None
            if canonical(kernel, index) != "threadIdx.x":
                return False
    return True
