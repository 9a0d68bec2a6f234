"""Aggregated atomics: each thread adds up its own elements first, a warp joins its sums, and one lane adds the total.

An atomic to one word is done for one lane after the other, and for one warp after the other; 32 lanes and several
elements of each then take one.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.launch.several_elements import combined, with_loop
from warplens.transform.syntax.guarded_index import NotSafe, guarded_index, inside
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

WARP = 32
TYPES = ("int", "unsigned", "unsigned int", "uint32_t", "int32_t", "unsigned long long", "float", "double")


@transform()
def aggregated_atomics(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    calls = [call for call in kernel.calls("atomicAdd") if _word(kernel, call)]
    if not calls:
        return
    try:
        loop = with_loop(kernel, launch)
        if loop is None:
            yield from _proposed(kernel, launch)
        else:
            looped, change = loop
            for then in _proposed(looped, launch):
                yield combined(kernel, change, looped, then) if isinstance(then, Change) else then
    except NotSafe as reason:
        yield Refusal("", reason.line, f"no sum of a warp before the atomic: {reason.reason}")


def _word(kernel: KernelSource, call: Node) -> str:
    """The array whose one word an atomic adds to, the same for all threads; "" for another one."""
    listed = call.child_by_field_name("arguments")
    target = listed.named_children[0] if listed and len(listed.named_children) == 2 else None
    pointers = {parameter.name for parameter in kernel.parameters if parameter.pointer}
    if target is None or kernel.reached(target) & {"threadIdx", "blockIdx"}:
        return ""
    if target.type == "identifier":
        return kernel[target] if kernel[target] in pointers else ""
    element = target.named_children[0] if target.type == "pointer_expression" else None
    if element is None or element.type != "subscript_expression" or kernel[element.children[0]] not in pointers:
        return ""
    constant = kernel.constant(element.children[1].named_children[0])
    return kernel[element.children[0]] if constant is not None else ""


def _proposed(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    index = guarded_index(kernel, launch)
    if index is None or index.form != "loop" or launch.block[0] % WARP:
        return
    calls = [call for call in kernel.calls("atomicAdd") if _word(kernel, call)]
    names = {_word(kernel, call) for call in calls}
    call = calls[0]
    line = kernel.line(call)
    if len(calls) > 1 or any(kernel.uses(name) != kernel.uses(name, call) for name in names):
        raise NotSafe(line, "the result is used besides")
    if not inside(call, index.guard) or call.parent is None or call.parent.type != "expression_statement":
        raise NotSafe(line, "what atomicAdd returns is used, or it stands before the loop")
    (name,) = names
    kind = next(parameter.type for parameter in kernel.parameters if parameter.name == name)
    if kind not in TYPES or not kernel.begins_line(index.guard):
        raise NotSafe(line, f"its elements are {kind}")
    listed = call.child_by_field_name("arguments")
    assert listed is not None
    target, value = listed.named_children
    total, offset, indent = kernel.fresh("sum", "total"), kernel.fresh("offset", "lanes"), kernel.indent(index.guard)
    start = kernel.line_start(index.guard)
    behind = (
        f"\n{indent}for (int {offset} = {WARP // 2}; {offset} > 0; {offset} /= 2) "
        f"{total} += __shfl_down_sync(0xffffffff, {total}, {offset});\n"
        f"{indent}if (threadIdx.x % {WARP} == 0) atomicAdd({kernel[target]}, {total});"
    )
    end = index.guard.end_byte
    edits = (
        Edit(start, start, f"{indent}{kind} {total} = 0;\n"),
        Edit(call.start_byte, call.end_byte, f"{total} += {kernel[value]}"),
        Edit(end, end, behind),
    )
    floats = kernel.plain_type(kind) in ("float", "double")
    yield Change("", "add up in each warp before the atomic", line, edits, effect="order" if floats else "exact",
                 promise=f"blocks of a multiple of {WARP} threads")  # fmt: skip
