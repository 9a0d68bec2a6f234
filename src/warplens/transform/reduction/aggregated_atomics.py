"""Aggregated atomics: each thread adds up its own elements first, a warp joins its sums, and one lane adds the total.

An atomic to one word is done for one lane after the other, and for one warp after the other; 32 lanes and several
elements of each then take one.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.launch.several_elements import combined, with_loop
from warplens.transform.syntax.accumulation import is_shared
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
        if (place := _statement_of_all(kernel, launch, calls)) is not None:
            yield _summed(kernel, calls[0], place)
            return
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
    if element is not None and element.type == "identifier":
        declared = kernel.declarators(kernel[element])
        return kernel[element] if len(declared) == 1 and is_shared(kernel, declared[0]) else ""
    if element is None or element.type != "subscript_expression" or kernel[element.children[0]] not in pointers:
        return ""
    constant = kernel.constant(element.children[1].named_children[0])
    return kernel[element.children[0]] if constant is not None else ""


def _statement_of_all(kernel: KernelSource, launch: LaunchFacts, calls: list[Node]) -> Node | None:
    """The statement at the top, a loop or the atomic itself, with the only atomic to a word in shared memory, which all
    threads of a warp come to; None where there is none."""
    shared = kernel.declarators(_word(kernel, calls[0]))
    place = next((node for node in kernel.body.named_children if inside(calls[0], node)), None)
    if len(calls) > 1 or not shared or place is None or place.type not in ("for_statement", "expression_statement"):
        return None
    others = [node for node in kernel.find("return_statement", "goto_statement") if node.start_byte < place.end_byte]
    alone = calls[0].parent is not None and calls[0].parent.type == "expression_statement"
    warps = launch.block[0] % WARP == 0 and not others and alone and kernel.begins_line(place)
    collective = place.type == "for_statement" and kernel.calls("__syncthreads", "__syncwarp", within=place)
    return place if warps and not collective else None


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
    if not kernel.begins_line(index.guard):
        raise NotSafe(line, "the loop does not begin a line")
    yield _summed(kernel, call, index.guard)


def _summed(kernel: KernelSource, call: Node, place: Node) -> Change:
    """With a sum of a thread in a loop, of its warp behind it.  place: the loop, or the atomic's own statement"""
    name, line = _word(kernel, call), kernel.line(call)
    declared = [one.parent.child_by_field_name("type") for one in kernel.declarators(name) if one.parent is not None]
    kinds = [parameter.type for parameter in kernel.parameters if parameter.name == name]
    kind = kernel[declared[0]] if declared and declared[0] is not None else kinds[0]
    if kernel.plain_type(kind) not in TYPES:
        raise NotSafe(line, f"its elements are {kind}")
    listed = call.child_by_field_name("arguments")
    assert listed is not None
    target, value = listed.named_children
    total, offset, indent = kernel.fresh("sum", "total"), kernel.fresh("offset", "lanes"), kernel.indent(place)
    start = kernel.line_start(place)
    behind = (
        f"\n{indent}for (int {offset} = {WARP // 2}; {offset} > 0; {offset} /= 2) "
        f"{total} += __shfl_down_sync(0xffffffff, {total}, {offset});\n"
        f"{indent}if (threadIdx.x % {WARP} == 0) atomicAdd({kernel[target]}, {total});"
    )
    end, loop = place.end_byte, place.type == "for_statement"
    first = [Edit(start, start, f"{indent}{kind} {total} = 0;\n")] if loop else []
    added = f"{total} += {kernel[value]}" if loop else f"{kind} {total} = {kernel[value]}"
    edits = (*first, Edit(call.start_byte, call.end_byte, added), Edit(end, end, behind))
    floats = kernel.plain_type(kind) in ("float", "double")
    return Change("", "add up in each warp before the atomic", line, edits, effect="order" if floats else "exact",
                  promise=f"blocks of a multiple of {WARP} threads")  # fmt: skip
