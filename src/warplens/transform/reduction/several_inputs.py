"""Several inputs: each thread of a reduction first adds up several elements, and a fraction of the blocks is started.

Loads do not wait for one another, and there are fewer rounds with barriers for the same elements.  A block reads as
many blocks of elements in a row, so that its result is that of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, LaunchChange, Proposals, Refusal, transform
from warplens.transform.syntax.block_reduction import (
    BARRIER,
    BlockReduction,
    block_reductions,
    swapped,
    value_names,
    with_for,
)
from warplens.transform.syntax.canonical_form import canonical, is_grid_index
from warplens.transform.syntax.for_loop import of_whole
from warplens.transform.syntax.guarded_index import NotSafe, inside
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts, walk

FACTORS = (8, 4)
TOTAL = "only the total of the blocks' results is used, of which there are fewer"


@dataclass(frozen=True)
class Input:
    """Where a thread takes its element from.

    statement   in which it does, or the declaration of the pointer into which the block reduces
    index       the expression with the number of the thread, or of the block's first element: it is multiplied
    value       the expression of the element;  guard: the condition under which there is one
    target      what it is assigned to
    """

    statement: Node
    index: Node
    value: Node
    guard: Node | None
    target: Node


@transform()
def several_inputs(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    plain = with_for(kernel)
    yield from of_whole(kernel, plain, _proposed(plain, launch))


def _proposed(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    try:
        for one in block_reductions(kernel, launch)[:1]:
            if one.local:
                raise NotSafe(kernel.line(one.loop), f"{one.local} holds the sum besides")
            found = _in_place(kernel, launch, one) or _input(kernel, launch, one)
            promise = TOTAL if _results_of_blocks(kernel, one) else ""
            for factor in FACTORS:
                if launch.grid[0] >= factor * launch.multiprocessors:
                    yield _change(kernel, launch, one, found, factor, promise)
    except NotSafe as reason:
        yield Refusal("", reason.line, f"one input a thread: {reason.reason}")


def _results_of_blocks(kernel: KernelSource, one: BlockReduction) -> bool:
    """Whether each block leaves a result of its own; else they are added by atomics.

    NotSafe where the number of the block serves for more than its input and its result.
    """
    results = 0
    for node in kernel.find("field_expression"):
        if not kernel[node].startswith(("blockIdx", "gridDim")) or node.start_byte < one.loop.start_byte:
            continue
        up = node.parent
        if kernel[node] != "blockIdx.x" or up is None or up.type != "subscript_argument_list":
            raise NotSafe(kernel.line(node), f"{kernel[node]} is used for more than the block's result")
        results += 1
    if not results and not kernel.calls("atomicAdd", "atomicMin", "atomicMax"):
        raise NotSafe(kernel.line(one.loop), "where the block's result goes is not known")
    return results > 0


def _input(kernel: KernelSource, launch: LaunchFacts, one: BlockReduction) -> Input:
    """The one statement that reads at blockIdx.x * blockDim.x + threadIdx.x."""
    pointers = {parameter.name for parameter in kernel.parameters if parameter.pointer}
    reads = [
        node for node in kernel.find("subscript_expression")
        if node.start_byte < one.loop.start_byte and kernel[node.children[0]] in pointers
    ]  # fmt: skip
    line = kernel.line(one.loop)
    for node in reads:
        if not is_grid_index(canonical(kernel, node.children[1].named_children[0]), launch):
            raise NotSafe(kernel.line(node), f"{kernel[node]} is not the element of the thread's number in the grid")
    statements = {statement.start_byte: statement for node in reads if (statement := _statement(kernel, node))}
    if len(statements) != 1:
        raise NotSafe(line, f"{len(statements) or 'no'} statements read the input")
    (statement,) = statements.values()
    target, value = _assigned(kernel, statement)
    if statement.parent != kernel.body:
        raise NotSafe(kernel.line(statement), "the input is read under a condition")
    guard = None
    if value.type == "conditional_expression":
        guard, value = value.children[0], value.children[2]
    first = reads[0].children[1].named_children[0]
    index = _origin(kernel, first)
    name = kernel[first] if first.type == "identifier" else ""
    uses = kernel.uses(name) if name else []
    for use in uses:
        declares = use.parent is not None and use.parent.type == "init_declarator" and use.parent.children[0] == use
        if not declares and not inside(use, statement):
            raise NotSafe(kernel.line(use), f"{name} is used for more than the input")
    for node in kernel.find("field_expression"):
        if kernel[node] == "blockIdx.x" and node.start_byte < one.loop.start_byte and not inside(node, index):
            raise NotSafe(kernel.line(node), "blockIdx.x is used for more than the input")
    return Input(statement, index, value, guard, target)


def _in_place(kernel: KernelSource, launch: LaunchFacts, one: BlockReduction) -> Input | None:
    """A reduction of global memory in place: `int* d = data + blockIdx.x * blockDim.x`."""
    declared = [node for node in kernel.declarators(one.array) if node.type == "init_declarator"]
    pointer = declared[0].child_by_field_name("value") if len(declared) == 1 else None
    if pointer is None or pointer.type != "binary_expression" or declared[0].children[0].type != "pointer_declarator":
        return None
    block = next((b for b in ("blockDim.x", str(launch.block[0])) if b in canonical(kernel, pointer)), "")
    offsets = [node for node in (pointer.children[0], pointer.children[2]) if canonical(kernel, node) in
               ("*".join(sorted((block, "blockIdx.x"))), f"{block}*blockIdx.x")]  # fmt: skip
    statement = declared[0].parent
    if len(offsets) != 1 or statement is None:
        return None
    return Input(statement, offsets[0], one.left, None, one.left)


def _statement(kernel: KernelSource, node: Node) -> Node | None:
    while node.parent is not None and node.type not in ("expression_statement", "declaration"):
        node = node.parent
    return node


def _assigned(kernel: KernelSource, statement: Node) -> tuple[Node, Node]:
    """Target and value of a statement.  NotSafe for another one."""
    inner = statement.named_children[0]
    plain = inner.type == "assignment_expression" and kernel[inner.children[1]] == "="
    if statement.type == "expression_statement" and plain:
        return inner.children[0], _bare(inner.children[2])
    declared = statement.children_by_field_name("declarator") if statement.type == "declaration" else []
    value = declared[0].child_by_field_name("value") if len(declared) == 1 else None
    if value is None:
        raise NotSafe(kernel.line(statement), "the input is not simply assigned")
    return declared[0].children[0], _bare(value)


def _bare(node: Node) -> Node:
    return node.named_children[0] if node.type == "parenthesized_expression" else node


def _origin(kernel: KernelSource, index: Node) -> Node:
    """Where the index of the grid is computed."""
    while index.type == "identifier" and (value := kernel.value(kernel[index])) is not None:
        index = value
    return index


def _change(
    kernel: KernelSource, launch: LaunchFacts, one: BlockReduction, found: Input, factor: int, promise: str
) -> Change:
    in_place = found.value == one.left
    edits = [_farther(kernel, launch, found.index, factor)]
    edits += _sum_in_place(kernel, one, factor) if in_place else _sum(kernel, launch, one, found, factor)
    unguarded = f"the number of elements is a multiple of {factor} blocks" if found.guard is None else ""
    if unguarded and launch.grid[0] % factor:
        raise NotSafe(kernel.line(found.statement), f"{launch.grid[0]:,} blocks are no multiple of {factor}")
    if in_place:
        edits += _without_early_return(kernel, launch, one, factor)
    return Change(
        "", f"each thread adds up {factor} elements first", kernel.line(found.statement), tuple(edits),
        LaunchChange(grid_over=(factor, 1, 1)), "order", "; ".join(filter(None, (promise, unguarded))),
    )  # fmt: skip


def _farther(kernel: KernelSource, launch: LaunchFacts, index: Node, factor: int) -> Edit:
    """blockIdx.x * blockDim.x * 8 in place of blockIdx.x * blockDim.x."""
    wanted = ("blockDim.x*blockIdx.x", f"{launch.block[0]}*blockIdx.x")
    product = next((node for node in walk(index) if canonical(kernel, node) in wanted), None)
    if product is None:
        raise NotSafe(kernel.line(index), f"{kernel[index]} has no product of block and block size")
    return Edit(product.end_byte, product.end_byte, f" * {factor}")


def _operation(kernel: KernelSource, one: BlockReduction, value: str, element: str) -> str:
    return kernel.replaced(one.update, swapped(one, value, element))


def _sum(kernel: KernelSource, launch: LaunchFacts, one: BlockReduction, found: Input, factor: int) -> list[Edit]:
    indent, k = kernel.indent(found.statement), kernel.fresh("k")
    local = found.target.type == "identifier"
    value = kernel[found.target] if local else kernel.fresh(*value_names(kernel, one))
    index = next(node for node in walk(found.value) if is_grid_index(canonical(kernel, node), launch))

    def later(node: Node) -> str | None:
        far = is_grid_index(canonical(kernel, node), launch) and node.type in ("identifier", "binary_expression")
        if not far:
            return None
        base = kernel[node] if node.type == "identifier" else _multiplied(kernel, launch, node, factor)
        return f"{base} + {k} * {_block(kernel, launch, index)}"

    update = _operation(kernel, one, value, kernel.replaced(found.value, later))
    head = f"for (int {k} = 1; {k} < {factor}; ++{k})"
    inner = indent + kernel.step
    guard = f"\n{inner}if ({kernel.replaced(_bare(found.guard), later)})" if found.guard is not None else ""
    loop = f"\n{indent}{head}{guard} {update}"
    end = found.statement.end_byte
    if local:
        return [Edit(end, end, loop)]
    return [
        Edit(found.target.start_byte, found.target.end_byte, f"{one.element} {value}"),
        Edit(end, end, f"{loop}\n{indent}{kernel[found.target]} = {value};"),
    ]


def _multiplied(kernel: KernelSource, launch: LaunchFacts, node: Node, factor: int) -> str:
    edit = _farther(kernel, launch, node, factor)
    cut = edit.start - node.start_byte
    data = kernel[node].encode()
    return (data[:cut] + edit.text.encode() + data[cut:]).decode()


def _block(kernel: KernelSource, launch: LaunchFacts, index: Node) -> str:
    """The block size, as the index is computed with."""
    for node in walk(_origin(kernel, index)):
        if canonical(kernel, node) in ("blockDim.x", str(launch.block[0])) and node.type != "parenthesized_expression":
            return kernel[node]
    return "blockDim.x"


def _sum_in_place(kernel: KernelSource, one: BlockReduction, factor: int) -> list[Edit]:
    indent, k, t, d = kernel.indent(one.loop), kernel.fresh("k"), one.thread, one.array
    value = kernel.fresh(*value_names(kernel, one))
    update = _operation(kernel, one, value, f"{d}[{t} + {k} * blockDim.x]")
    lines = [
        f"{one.element} {value} = {d}[{t}];",
        f"for (int {k} = 1; {k} < {factor}; ++{k}) {update}",
        f"{d}[{t}] = {value};",
        *([] if one.barrier_first else [f"{BARRIER}();"]),
    ]
    before = one.loop.prev_named_sibling
    first = before if before is not None and before.type == "preproc_call" else one.loop
    start = kernel.line_start(first)
    return [Edit(start, start, "".join(f"{indent}{line}\n" for line in lines))]


def _without_early_return(kernel: KernelSource, launch: LaunchFacts, one: BlockReduction, factor: int) -> list[Edit]:
    """The elements are a multiple of all blocks: `if (i >= n) return;` goes."""
    edits = []
    for leave in kernel.find("return_statement"):
        test = leave.parent
        while test is not None and test.type not in ("if_statement", "function_definition"):
            test = test.parent
        if leave.start_byte > one.loop.start_byte or test is None or test.type != "if_statement":
            continue
        condition = test.child_by_field_name("condition")
        names = {kernel[node] for node in kernel.find("identifier", within=condition)} & set(launch.numbers)
        all_there = any(launch.numbers[name] == launch.grid[0] * launch.block[0] for name in names)
        if not all_there:
            raise NotSafe(kernel.line(leave), "some threads have no element")
        edits.append(Edit(*kernel.whole_line(test), ""))
    return edits
