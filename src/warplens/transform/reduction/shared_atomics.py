"""Shared atomics: a block adds into a copy of the bins in its shared memory, and adds that to global memory at the end.

Atomics of shared memory meet those of their own block only, and the global ones become as many as there are bins.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.launch.several_elements import combined, with_loop
from warplens.transform.syntax.guarded_index import NotSafe
from warplens.transform.syntax.kernel_source import ELEMENT_BYTES, KernelParameter, KernelSource, LaunchFacts

MOST_SHARED = 48 * 1024  # bytes of static shared memory of a block
ADDABLE = ("int", "unsigned", "unsigned int", "uint32_t", "int32_t", "unsigned long long", "float", "double")


@transform()  # the rule contended_atomics sees lanes of one warp that meet; those of different warps meet too
def shared_atomics(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for parameter in kernel.parameters:
        calls = [call for call in kernel.calls("atomicAdd") if _target(kernel, call, parameter.name)]
        if not parameter.pointer or not calls or any(_adds_shared(kernel, call) for call in calls):
            continue
        try:
            yield _change(kernel, launch, parameter, calls)
        except NotSafe as reason:
            yield Refusal("", reason.line, f"{parameter.name} gets no copy in shared memory: {reason.reason}")
            continue
        if (loop := with_loop(kernel, launch)) is not None:  # the copy is worth more, the more a block adds to it
            looped, change = loop
            again = [call for call in looped.calls("atomicAdd") if _target(looped, call, parameter.name)]
            yield combined(kernel, change, looped, _change(looped, launch, parameter, again))


def _target(kernel: KernelSource, call: Node, name: str) -> Node | None:
    """The use of the array in atomicAdd(&bins[k], v) or atomicAdd(bins + k, v)."""
    listed = call.child_by_field_name("arguments")
    first = listed.named_children[0] if listed and listed.named_children else None
    if first is not None and first.type == "pointer_expression" and kernel[first].startswith("&"):
        element = first.named_children[0]
        inner = element.children[0] if element.type == "subscript_expression" else None
    elif first is not None and first.type == "binary_expression" and kernel[first.children[1]] == "+":
        inner = first.children[0]
    else:
        inner = first
    return inner if inner is not None and inner.type == "identifier" and kernel[inner] == name else None


def _adds_shared(kernel: KernelSource, call: Node) -> bool:
    """Whether it adds an element of shared memory: the kernel has its copy already."""
    listed = call.child_by_field_name("arguments")
    value = listed.named_children[-1] if listed else call
    arrays = [kernel[node.children[0]] for node in kernel.find("subscript_expression", within=value)]
    declared = [one.parent for array in arrays for one in kernel.declarators(array)]
    return any("__shared__" in kernel[declaration] for declaration in declared if declaration)


def _change(kernel: KernelSource, launch: LaunchFacts, bins: KernelParameter, calls: list[Node]) -> Change:
    line, name = kernel.line(calls[0]), bins.name
    targets = [node for call in calls if (node := _target(kernel, call, name))]
    for use in kernel.uses(name):
        if use not in targets:
            raise NotSafe(kernel.line(use), "it is used besides atomicAdd")
    for call in calls:
        if call.parent is None or call.parent.type != "expression_statement":
            raise NotSafe(kernel.line(call), "what atomicAdd returns is used")
    size, element = launch.sizes.get(name), ELEMENT_BYTES.get(bins.type)
    if bins.type not in ADDABLE or element is None:
        raise NotSafe(line, f"its elements are {bins.type}")
    if size is None or size + launch.shared > MOST_SHARED:
        what = "its size is not known" if size is None else f"its {size:,} bytes are more than {MOST_SHARED:,}"
        raise NotSafe(line, what)
    if launch.block[2] > 1:
        raise NotSafe(line, "the block has three dimensions")
    count, copy = size // element, kernel.fresh(f"block_{name}", f"{name}_of_block")
    edits = [Edit(node.start_byte, node.end_byte, copy) for node in targets]
    guard = _early_return(kernel)
    edits += _around(kernel, launch, bins, (count, copy), guard)
    whole = bins.type not in ("float", "double")
    return Change(
        "", f"add to a copy of {name} in shared memory first", line, tuple(edits), effect="exact" if whole else "order",
        promise=f"{name} has {count:,} element{'s' if count > 1 else ''}",
    )  # fmt: skip


def _early_return(kernel: KernelSource) -> tuple[Node, Node] | None:
    """The `if (i >= n) return;` of the kernel, and its condition.  NotSafe where threads leave elsewhere."""
    found = None
    for leave in kernel.find("return_statement"):
        test = leave.parent
        if test is not None and test.type == "compound_statement":
            test = test.parent
        condition = test.child_by_field_name("condition") if test and test.type == "if_statement" else None
        plain = test is not None and test.parent == kernel.body and not test.child_by_field_name("alternative")
        alone = leave.parent == test or (leave.parent is not None and len(leave.parent.named_children) == 1)
        if found or condition is None or test is None or not plain or not alone:
            raise NotSafe(kernel.line(leave), "threads leave before the end")
        found = test, condition
    return found


def _around(
    kernel: KernelSource,
    launch: LaunchFacts,
    bins: KernelParameter,
    own: tuple[int, str],
    guard: tuple[Node, Node] | None,
) -> list[Edit]:
    """The copy is made before the first statement that is no declaration, and added to global memory at the end."""
    count, copy = own
    indent, step, k = kernel.indent(kernel.body) + kernel.step, kernel.step, kernel.fresh("bin", "k")
    rows = launch.block[1] > 1
    first = "threadIdx.y * blockDim.x + threadIdx.x" if rows else "threadIdx.x"
    threads = "blockDim.x * blockDim.y" if rows else "blockDim.x"
    each = f"for (int {k} = {first}; {k} < {count}; {k} += {threads})"
    start, end = kernel.body.start_byte + 1, kernel.body.end_byte - 1
    top = (
        f"\n{indent}__shared__ {bins.type} {copy}[{count}];\n"
        f"{indent}{each} {copy}[{k}] = 0;\n{indent}__syncthreads();\n"
    )
    bottom = (
        f"\n{indent}__syncthreads();\n{indent}{each}\n"
        f"{indent}{step}if ({copy}[{k}]) atomicAdd(&{bins.name}[{k}], {copy}[{k}]);"
    )
    last = kernel.body.named_children[-1]
    at = last.end_byte
    if kernel.data[at:end].strip():
        raise NotSafe(kernel.line(last), "the end of the kernel is not clear")
    edits = [Edit(start, start, top)]
    if guard is None:
        return [*edits, Edit(at, at, bottom)]
    test, condition = guard
    rest = [node for node in kernel.body.named_children if node.start_byte > test.end_byte]
    statements = [node for node in rest if node.type != "comment"]
    if not statements:
        raise NotSafe(kernel.line(test), "nothing follows the return")
    inverse = _inverse(kernel, condition)
    if len(statements) == len(rest) == 1 and rest[0].type == "expression_statement":
        return [*edits, Edit(test.start_byte, rest[0].start_byte, f"if ({inverse}) "), Edit(at, at, bottom)]
    blank = kernel.data[test.end_byte : test.end_byte + 2] == b"\n\n"
    opened = Edit(test.start_byte, test.end_byte + blank, f"if ({inverse}) {{")
    # the lines between the guard and the end move in by one step
    moved, position = [], kernel.data.find(b"\n", test.end_byte) + 1
    while 0 < position < at:
        if kernel.data[position : position + 1] != b"\n":
            moved.append(Edit(position, position, step))
        position = kernel.data.find(b"\n", position) + 1
    return [*edits, opened, *moved, Edit(at, at, f"\n{indent}}}{bottom}")]


def _inverse(kernel: KernelSource, condition: Node) -> str:
    inner = condition.named_children[0]
    opposite = {">=": "<", ">": "<=", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
    if inner.type == "binary_expression" and (operator := opposite.get(kernel[inner.children[1]])):
        return f"{kernel[inner.children[0]]} {operator} {kernel[inner.children[2]]}"
    return f"!({kernel[inner]})"
