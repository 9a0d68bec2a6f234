"""Private variable: one that each round of a loop sets before it reads it, so that rounds may be done by any thread.

for (int k = 0; k < n; ++k) {
  float d = 0;                                          declared in the round
  dx = x[k] - mine;                                     set at first, and used nowhere behind the loop
  for (int j = 0; j < 3; ++j) d += dx * y[j];
  ...
"""

from __future__ import annotations

from tree_sitter import Node

from warplens.transform.syntax.guarded_index import inside, statements_of
from warplens.transform.syntax.kernel_source import KernelSource

ENDING = ("return_statement", "goto_statement", "gnu_asm_expression", "lambda_expression", "do_statement")


def is_work_of_a_round(kernel: KernelSource, loop: Node, statement: Node) -> bool:
    """Whether a statement of a loop changes nothing but private variables of the round."""
    if next(kernel.find(*ENDING, within=statement), None) is not None:
        return False
    for node in kernel.find("break_statement", "continue_statement", within=statement):
        inner = kernel.find("for_statement", "while_statement", within=statement)
        if not any(inside(node, one) for one in inner):
            return False
    if any(_has_effects(kernel, call) for call in kernel.find("call_expression", within=statement)):
        return False
    return all(_is_private(kernel, loop, target) for target in _changed(kernel, statement))


def skips_a_round(kernel: KernelSource, statement: Node) -> bool:
    """Whether it is `if (...) continue;`."""
    then = statement.child_by_field_name("consequence") if statement.type == "if_statement" else None
    if then is None or statement.child_by_field_name("alternative"):
        return False
    condition = statement.child_by_field_name("condition")
    changed = kernel.find("assignment_expression", "update_expression", within=condition)
    return [node.type for node in statements_of(then)] == ["continue_statement"] and next(changed, None) is None


def _changed(kernel: KernelSource, statement: Node) -> list[Node]:
    changed = kernel.find("assignment_expression", "update_expression", within=statement)
    targets = [node.child_by_field_name("left") or node.named_children[0] for node in changed]
    referred = [node for node in kernel.find("identifier", within=statement) if node in kernel.written(kernel[node])]
    return [*targets, *referred]


def _is_private(kernel: KernelSource, loop: Node, target: Node) -> bool:
    """Whether a variable, or what a field or element of a local one belongs to, is set anew in each round."""
    whole = target
    while target.type in ("field_expression", "subscript_expression") and "->" not in kernel[target]:
        target = target.children[0]
    declared = kernel.declarators(kernel[target]) if target.type == "identifier" else []
    if len(declared) != 1 or declared[0].type == "pointer_declarator" or "*" in kernel[declared[0]].partition("=")[0]:
        return False
    if inside(declared[0], loop):
        return True
    uses = kernel.uses(kernel[target])
    within = [use for use in uses if inside(use, loop)]
    behind = [use for use in uses if use.start_byte >= loop.end_byte]
    holder = _where_set_first(kernel, within)
    anew = not behind or _where_set_first(kernel, behind) is not None
    return whole == target and anew and holder is not None and holder != loop and inside(holder, loop)


def _where_set_first(kernel: KernelSource, uses: list[Node]) -> Node | None:
    """The block, or the head of a loop, that begins its uses of a variable with `v = ...`, and has all of these."""
    assigned = uses[0].parent
    if assigned is None or assigned.type != "assignment_expression" or kernel[assigned.children[1]] != "=":
        return None
    if assigned.children[0] != uses[0] or kernel.uses(kernel[uses[0]], assigned.children[2]):
        return None
    holder = assigned.parent
    if holder is not None and holder.type == "expression_statement":
        holder = holder.parent
        if holder is None or holder.type != "compound_statement":
            return None
    return holder if holder is not None and all(inside(use, holder) for use in uses) else None


def _has_effects(kernel: KernelSource, call: Node) -> bool:
    """Whether a function does more than to return a value: an atomic, or one of the file that stores something."""
    name = kernel.called(call).partition("<")[0]
    function = kernel.functions.get(name)
    if function is None:
        return name.startswith(("atomic", "__st", "printf", "curand", "asm"))
    stored = kernel.find("assignment_expression", "update_expression", within=function)
    targets = [node.child_by_field_name("left") or node.named_children[0] for node in stored]
    pointing = ("subscript_expression", "pointer_expression")
    pointed = any(node.type in pointing or "->" in kernel[node] for node in targets)
    inner = kernel.find("call_expression", within=function)
    return pointed or any(_has_effects(kernel, one) for one in inner if kernel.called(one).partition("<")[0] != name)
