"""Float division: by what stays the same in a loop, or by a number, as a multiplication with its reciprocal.

An exact quotient of floats takes 8 to 10 instructions and a test for the rare cases; a product takes one.
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, transform
from warplens.transform.syntax.canonical_form import unwrapped
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.guarded_index import inside
from warplens.transform.syntax.kernel_source import FLOATS, KernelSource, LaunchFacts
from warplens.transform.syntax.value_type import value_type

LEAST = 0.05  # of all executed instructions: those of the lines with such divisions


@transform()
def float_division(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    found = [node for node in kernel.find("binary_expression") if kernel[node.children[1]] == "/"]
    kinds = {node.id: value_type(kernel, node) for node in found}
    floats = [node for node in found if kinds[node.id] in ("float", "double")]
    lines = {line for node in floats for line in range(node.start_point[0] + 1, node.end_point[0] + 2)}
    if launch.lines and sum(launch.lines.get(line, 0.0) for line in lines) < LEAST:
        return
    edits, names = list[Edit](), dict[tuple[int, str], str]()
    for node in floats:
        divisor, loop = node.children[2], _loop(kernel, node)
        kind = kinds[node.id]
        if unwrapped(divisor).type == "number_literal":
            if not _is_power_of_two(kernel[unwrapped(divisor)]):
                edits += _product(kernel, node, _reciprocal(kernel, divisor, kind))
        elif loop is not None:
            place = _top(loop)
            key = (place.start_byte, kernel[divisor])
            if key not in names:
                names[key] = kernel.fresh("reciprocal") if not names else kernel.fresh(f"reciprocal_{len(names) + 1}")
                start = kernel.line_start(place)
                made = f"{kernel.indent(place)}{kind} {names[key]} = {_one(kind)} / {kernel[divisor]};\n"
                edits.append(Edit(start, start, made))
            edits += _product(kernel, node, names[key])
    if edits:
        many = sum(edit.end > edit.start for edit in edits)
        title = f"multiply by the reciprocal instead of {many} division{'s' if many > 1 else ''} of floats"
        yield Change("", title, min(kernel.line(node) for node in floats), tuple(edits), effect="rounding")


def _product(kernel: KernelSource, node: Node, by: str) -> list[Edit]:
    """The sign, and what stands behind it: the dividend stays as it is, with divisions of its own."""
    operator, divisor = node.children[1], node.children[2]
    return [Edit(operator.start_byte, operator.end_byte, "*"), Edit(divisor.start_byte, divisor.end_byte, by)]


def _one(kind: str) -> str:
    return "1.0f" if kind == "float" else "1.0"


def _reciprocal(kernel: KernelSource, divisor: Node, kind: str) -> str:
    """A constant for the compiler."""
    return f"({_one(kind)} / {kernel[divisor]})"


def _is_power_of_two(text: str) -> bool:
    """The compiler multiplies by its reciprocal already."""
    try:
        return float(text.rstrip("fFlL")).hex().startswith(("0x1.0000000000000p", "0x0.0p"))
    except ValueError:
        return True


def _loop(kernel: KernelSource, node: Node) -> Node | None:
    """The outermost loop around a division in which its divisor stays the same; None where there is none."""
    divisor, found, up = node.children[2], None, node.parent
    if next(kernel.find("call_expression", "subscript_expression", "pointer_expression", within=divisor), None):
        return None
    names = {kernel[leaf] for leaf in kernel.find("identifier", within=divisor)}
    if any(value_type(kernel, leaf) not in (*FLOATS, "int") for leaf in kernel.find("identifier", within=divisor)):
        return None
    while up is not None and up.type != "function_definition":
        if up.type in LOOPS:
            changes = any(kernel.written(n, up) or any(inside(d, up) for d in kernel.declarators(n)) for n in names)
            if changes:
                break
            within = up.parent is not None and up.parent.type == "compound_statement"
            found = up if within and kernel.begins_line(_top(up)) else found
        up = up.parent
    return found


def _top(loop: Node) -> Node:
    """The loop, or the pragma above it."""
    above = loop.prev_named_sibling
    return above if above is not None and above.type == "preproc_call" else loop
