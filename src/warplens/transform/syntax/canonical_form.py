"""Canonical form: one text for integer expressions that are equal, so that a transform knows an index by its value.

`threadIdx.x + blockDim.x * blockIdx.x` and `i`, where i was declared as that, have the same form.  Casts between
integer types are left out: a transform that keeps the expression keeps its casts.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from warplens.transform.syntax.kernel_source import ELEMENT_BYTES, INTEGERS, KernelSource, LaunchFacts, walk

SWAPPED = {">": "<", ">=": "<="}
COMMUTATIVE = ("&", "|", "^", "&&", "||", "==", "!=")


def canonical(kernel: KernelSource, node: Node | None) -> str:
    """Its form, "" for no node."""
    if node is None:
        return ""
    inner = _inner(kernel, node)
    if inner is not None:
        return canonical(kernel, inner)
    if (number := kernel.constant(node)) is not None:
        return str(number)
    if node.type == "identifier":
        return _variable(kernel, node)
    if node.type == "binary_expression":
        return _binary(kernel, node)
    return "".join(kernel[node].split())


def is_grid_index(form: str, launch: LaunchFacts) -> bool:
    """Whether a form is the number of a thread in the whole grid."""
    return form in (f"{block}*blockIdx.x+threadIdx.x" for block in (launch.block[0], "blockDim.x"))


def is_block_size(form: str, launch: LaunchFacts) -> bool:
    return form in ("blockDim.x", str(launch.block[0]))


def is_grid_size(form: str, launch: LaunchFacts) -> bool:
    """Whether a form is the number of threads of the whole grid."""
    return form in (f"{block}*gridDim.x" for block in (launch.block[0], "blockDim.x"))


def unwrapped(node: Node) -> Node:
    """Without parentheses."""
    while node.type in ("parenthesized_expression", "condition_clause") and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def without_casts(kernel: KernelSource, node: Node) -> Node:
    """Without parentheses and casts to integers around it."""
    while (inner := _inner(kernel, node)) is not None:
        node = inner
    return node


def conjuncts(kernel: KernelSource, node: Node) -> list[Node]:
    """The conditions that && joins."""
    node = unwrapped(node)
    operator = node.child_by_field_name("operator")
    if node.type != "binary_expression" or operator is None or kernel[operator] != "&&":
        return [node]
    return [*conjuncts(kernel, node.children[0]), *conjuncts(kernel, node.children[2])]


def comparison(kernel: KernelSource, node: Node) -> tuple[Node, str, Node] | None:
    """Left side, < or <=, right side of a comparison, turned so that the smaller stands on the left."""
    node = unwrapped(node)
    if node.type != "binary_expression":
        return None
    left, operator, right = node.children[0], kernel[node.children[1]], node.children[2]
    if operator in SWAPPED:
        left, operator, right = right, SWAPPED[operator], left
    return (left, operator, right) if operator in ("<", "<=") else None


def _inner(kernel: KernelSource, node: Node) -> Node | None:
    """What parentheses, or a cast to an integer type, contain."""
    if node.type in ("parenthesized_expression", "condition_clause"):
        return unwrapped(node) if unwrapped(node) != node else None
    if node.type == "cast_expression":
        kind = node.child_by_field_name("type")
        return node.child_by_field_name("value") if kind and kernel[kind] in _INTEGERS else None
    if node.type == "call_expression":  # static_cast<int>(x), int(x)
        found = re.fullmatch(r"(?:static_cast<\s*([\w ]+?)\s*>|(\w+))", kernel.called(node))
        listed = node.child_by_field_name("arguments")
        if found and (found[1] or found[2]) in _INTEGERS and listed and len(listed.named_children) == 1:
            return listed.named_children[0]
    return None


_INTEGERS = {name for name in INTEGERS if ELEMENT_BYTES[name] >= 4}


def _variable(kernel: KernelSource, node: Node) -> str:
    name = kernel[node]
    value = kernel.value(name) or _global_constant(kernel, name)
    if value is None or any(part.type in ("call_expression", "subscript_expression") for part in walk(value)):
        return name
    if value.type == "preproc_arg":
        text = kernel[value].strip().strip("()")
        return text if text.isdigit() else name
    return canonical(kernel, value)


def _global_constant(kernel: KernelSource, name: str) -> Node | None:
    """What a macro or constant of the file stands for."""
    if any(parameter.name == name for parameter in kernel.parameters) or kernel.declarators(name):
        return None
    for node in kernel.root.children:
        if node.type == "preproc_def" and kernel[node.child_by_field_name("name") or node] == name:
            return node.child_by_field_name("value")
        if node.type == "declaration" and "const" in kernel[node].split("=")[0]:
            for one in node.children_by_field_name("declarator"):
                named = one.child_by_field_name("declarator")
                if named is not None and kernel[named] == name:
                    return one.child_by_field_name("value")
    return None


def _binary(kernel: KernelSource, node: Node) -> str:
    left, operator, right = node.children[0], kernel[node.children[1]], node.children[2]
    if operator in SWAPPED:
        left, operator, right = right, SWAPPED[operator], left
    if operator in ("+", "-"):
        return _sum([(1, left), (1 if operator == "+" else -1, right)], kernel)
    shift = kernel.constant(right)
    if operator == "*" or (operator == "<<" and shift is not None):
        return _product(kernel, node)
    if operator == ">>" and shift is not None:
        operator, forms = "/", [canonical(kernel, left), str(1 << shift)]
    else:
        forms = [canonical(kernel, left), canonical(kernel, right)]
    if operator == "/" and all(form.isdigit() for form in forms) and int(forms[1]):
        return str(int(forms[0]) // int(forms[1]))
    if operator in COMMUTATIVE:
        forms.sort(key=lambda form: (not form.isdigit(), form))
    return operator.join(form if re.fullmatch(r"[\w.]+", form) else f"({form})" for form in forms)


def _sum(signed: list[tuple[int, Node]], kernel: KernelSource) -> str:
    number, terms = 0, []
    for sign, node in signed:
        for term in re.split(r"\+(?![^()]*\))", canonical(kernel, node)):
            minus = term.startswith("-")
            bare = term.removeprefix("-")
            if bare.isdigit():
                number += int(bare) * sign * (-1 if minus else 1)
            else:
                terms.append(bare if (sign == 1) != minus else f"-{bare}")
    return "+".join([*sorted(terms), *([str(number)] if number or not terms else [])])


def _product(kernel: KernelSource, node: Node) -> str:
    number, factors, todo = 1, list[str](), [node]
    while todo:
        part = todo.pop()
        part = _inner(kernel, part) or part
        operator = kernel[part.children[1]] if part.type == "binary_expression" else ""
        if operator == "*":
            todo += [part.children[0], part.children[2]]
        elif operator == "<<" and (shift := kernel.constant(part.children[2])) is not None:
            number, todo = number << shift, [*todo, part.children[0]]
        else:
            for factor in _factors(canonical(kernel, part)):
                number, factors = (number * int(factor), factors) if factor.isdigit() else (number, [*factors, factor])
    return "*".join([*([str(number)] if number != 1 or not factors else []), *sorted(factors)])


def _factors(form: str) -> list[str]:
    return form.split("*") if re.fullmatch(r"[\w.*]+", form) else [f"({form})"]
