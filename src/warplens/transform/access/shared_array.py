"""Shared array: a thread's small array that is indexed by a variable, kept in shared memory instead of local memory.

`int bins[32]` becomes `__shared__ int bins[32][256]`, and `bins[k]` becomes `bins[k][threadIdx.x]`: every thread has a
column of its own, so that nobody waits for anybody, and the 32 lanes of a warp reach 32 banks whatever their k.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.syntax.guarded_index import NotSafe
from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts
from warplens.transform.syntax.lane_stride import number_of

MOST_SHARED = 48 * 1024
ZEROS = ("{}", "{0}", "{0.0f}", "{0.f}", "{0.0}")


@transform("local_memory")
def shared_array(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    for array in kernel.find("array_declarator"):
        declaration = _declaration(array)
        if declaration is None or not _is_plain(kernel, declaration) or not _is_indexed_by_a_variable(kernel, array):
            continue
        try:
            yield _change(kernel, launch, array, declaration)
        except NotSafe as reason:
            yield Refusal("", reason.line, f"{_name(kernel, array)} stays in local memory: {reason.reason}")


def _declaration(array: Node) -> Node | None:
    """Of a local array of one dimension; None for another one."""
    up = array.parent
    if up is not None and up.type == "init_declarator":
        up = up.parent
    inner = array.child_by_field_name("declarator")
    plain = inner is not None and inner.type == "identifier" and array.child_by_field_name("size") is not None
    return up if plain and up is not None and up.type == "declaration" else None


def _is_plain(kernel: KernelSource, declaration: Node) -> bool:
    words = {kernel[node] for node in declaration.children if node.type not in ("array_declarator", "init_declarator")}
    return not words & {"__shared__", "static", "const", "constexpr", "volatile", "__constant__", "extern"}


def _name(kernel: KernelSource, array: Node) -> str:
    return kernel[array.child_by_field_name("declarator") or array]


def _is_indexed_by_a_variable(kernel: KernelSource, array: Node) -> bool:
    uses = (use.parent for use in kernel.uses(_name(kernel, array)))
    indices = (up.children[1].named_children[0] for up in uses if up is not None and up.type == "subscript_expression")
    return any(kernel.constant(index) is None for index in indices)


def _change(kernel: KernelSource, launch: LaunchFacts, array: Node, declaration: Node) -> Change:
    name, line = _name(kernel, array), kernel.line(array)
    kind, size = declaration.child_by_field_name("type"), array.child_by_field_name("size")
    assert kind is not None
    assert size is not None
    each = kernel.element_bytes(kernel[kind])
    elements = number_of(kernel, size, {})
    if len(kernel.declarators(name)) != 1:
        raise NotSafe(line, "it is declared more than once")
    if each is None or elements is None:
        raise NotSafe(line, "its size is not known")
    if launch.block[1:] != (1, 1):
        raise NotSafe(line, "blocks have more than one dimension")
    if launch.shared + elements * each * launch.block[0] > MOST_SHARED:
        raise NotSafe(line, f"{elements * each * launch.block[0]:,} bytes a block do not fit into shared memory")
    if len(declaration.children_by_field_name("declarator")) != 1:
        raise NotSafe(line, "other variables are declared beside it")
    edits = [
        Edit(declaration.start_byte, declaration.start_byte, "__shared__ "),
        *_columns(kernel, array, declaration, f"[{launch.block[0]}]"),
    ]
    for use in kernel.uses(name):
        up = use.parent
        if up == array:
            continue
        if up is None or up.type != "subscript_expression" or up.children[0] != use:
            raise NotSafe(kernel.line(use), "it is used as a pointer")
        edits.append(Edit(up.end_byte, up.end_byte, "[threadIdx.x]"))
    title = f"keep {name} in shared memory, a column for each thread"
    return Change("", title, line, tuple(edits), promise=f"blocks of at most {launch.block[0]} threads")


def _columns(kernel: KernelSource, array: Node, declaration: Node, columns: str) -> list[Edit]:
    """Of the declaration; zeros that it begins with are stored by a loop behind it."""
    up, line = array.parent, kernel.line(array)
    value = up.child_by_field_name("value") if up is not None and up.type == "init_declarator" else None
    if value is None:
        return [Edit(array.end_byte, array.end_byte, columns)]
    if "".join(kernel[value].split()) not in ZEROS:
        raise NotSafe(line, "it has a value from its declaration on")
    k, size = kernel.fresh("k", "j"), kernel[array.child_by_field_name("size") or array]
    indent = kernel.indent(declaration)
    loop = f"for (int {k} = 0; {k} < {size}; ++{k}) {_name(kernel, array)}[{k}][threadIdx.x] = 0;"
    return [Edit(array.end_byte, declaration.end_byte, f"{columns};\n{indent}{loop}")]
