"""Integer division: by a number that stays as a multiplication, by a power of two as a shift.

A GPU has no instruction for the division of integers: by a variable it takes about twenty, by the precomputed
reciprocal three.  The reciprocal itself costs a division of 64 bits, so that it pays only for many quotients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from warplens.transform._change import Change, Edit, Proposals, Refusal, transform
from warplens.transform.launch.several_elements import combined, with_loop
from warplens.transform.syntax.for_loop import LOOPS
from warplens.transform.syntax.guarded_index import BUILT_IN, LARGEST, inside
from warplens.transform.syntax.kernel_source import FLOATS, KernelSource, LaunchFacts

SIGNED, UNSIGNED = ("int", "int32_t"), ("unsigned", "unsigned int", "uint32_t", "uint")

# For d > 0 and 0 <= n < 2^31: with l = ceil(log2 d) and m = floor(2^(31 + l) / d) + 1, n m / 2^(31 + l) is at least
# n / d and exceeds it by at most n / 2^31 / d < 1 / d, so that both have the same whole part.  m < 2^32.
OF_31_BITS = """\
// A divisor, by its reciprocal: quotients of 0 <= n < 2^31 are a multiplication and a shift, exact.
struct {name} {{
{step}unsigned divisor, multiplier, shift;
{step}__device__ explicit {name}(unsigned d) : divisor(d), shift(d > 1 ? 63 - __clz(d - 1) : 31) {{
{step}{step}multiplier = (unsigned)((1ull << shift) / d) + 1;
{step}}}
{step}__device__ unsigned quotient(unsigned n) const {{ return (unsigned long long)n * multiplier >> shift; }}
{step}__device__ unsigned remainder(unsigned n) const {{ return n - quotient(n) * divisor; }}
}};

"""
# For all n < 2^32 the multiplier has 33 bits, 2^32 + m: n (2^32 + m) / 2^(32 + l), the sum halved before it overflows.
# (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994, figure 4.1)
OF_32_BITS = """\
// A divisor, by its reciprocal: quotients of unsigned numbers are a multiplication and two shifts, exact.
struct {name} {{
{step}unsigned divisor, multiplier, shift;
{step}__device__ explicit {name}(unsigned d) : divisor(d), shift(d > 1 ? 32 - __clz(d - 1) : 0) {{
{step}{step}multiplier = (unsigned)(((1ull << shift) - d << 32) / d) + 1;
{step}}}
{step}__device__ unsigned quotient(unsigned n) const {{
{step}{step}unsigned high = __umulhi(multiplier, n);
{step}{step}return divisor > 1 ? high + (n - high >> 1) >> shift - 1 : n;
{step}}}
{step}__device__ unsigned remainder(unsigned n) const {{ return n - quotient(n) * divisor; }}
}};

"""


@dataclass(frozen=True)
class Divisor:
    """A parameter by which is divided.

    divisions   that are replaced;  unsigned: whether a dividend may have 32 bits
    all_unsigned   whether all dividends are unsigned, so that none is negative
    """

    name: str
    divisions: tuple[Node, ...]
    unsigned: bool
    all_unsigned: bool

    @property
    def serves(self) -> bool:
        """Whether a reciprocal that is computed once serves for more than one quotient."""
        return len(self.divisions) > 1 or _in_loop(self.divisions[0])

    @property
    def promise(self) -> str:
        dividends = "" if self.all_unsigned else ", and what is divided by it is not negative"
        return f"{self.name} is positive{dividends}"


@transform()
def integer_division(kernel: KernelSource, launch: LaunchFacts) -> Proposals:
    if launch.grid[0] * launch.block[0] * 2 > LARGEST:
        return  # an index may be negative
    yield from _by_power_of_two(kernel, _divisions(kernel))
    found = list(_divisors(kernel, launch))
    loop = with_loop(kernel, launch) if any(isinstance(one, Divisor) for one in found) else None
    for one in found:
        if isinstance(one, Refusal):
            yield one
        elif one.serves:
            yield _change(kernel, [one])
        elif loop is None:
            line, reason = kernel.line(one.divisions[0]), "its reciprocal takes a division too, and serves once"
            yield Refusal("", line, f"the division by {one.name} stays: {reason}")
    several = [one for one in found if isinstance(one, Divisor) and one.serves]
    if len(several) > 1:
        yield _change(kernel, several)
    if loop is not None:  # there each reciprocal serves for many quotients
        looped, change = loop
        again = [one for one in _divisors(looped, launch) if isinstance(one, Divisor)]
        for chosen in [[one] for one in again] + ([again] if len(again) > 1 else []):
            yield combined(kernel, change, looped, _change(looped, chosen))


def _divisions(kernel: KernelSource) -> list[Node]:
    return [node for node in kernel.find("binary_expression") if kernel[node.children[1]] in ("/", "%")]


def _divisors(kernel: KernelSource, launch: LaunchFacts) -> Iterator[Divisor | Refusal]:
    for parameter in kernel.parameters:
        if parameter.pointer or parameter.type not in SIGNED + UNSIGNED:
            continue
        by_it = [node for node in _divisions(kernel) if kernel[node.children[2]] == parameter.name]
        if whole := [node for node in by_it if not _is_float(kernel, node.children[0])]:
            yield _divisor(kernel, launch, parameter.name, whole)


def _divisor(kernel: KernelSource, launch: LaunchFacts, name: str, divisions: list[Node]) -> Divisor | Refusal:
    first = divisions[0]
    line = kernel.line(first)
    if kernel.written(name):
        return Refusal("", line, f"the division by {name} stays: {name} changes")
    positive = frozenset(
        parameter.name for parameter in kernel.parameters
        if launch.numbers.get(parameter.name, -1) >= 0 and not kernel.written(parameter.name)
    )  # fmt: skip
    unsigned = [node for node in divisions if _kind(kernel, node.children[0]) == "unsigned"]
    changed = [node for node in divisions if node in unsigned or is_non_negative(kernel, node.children[0], positive)]
    if not changed:
        what = kernel[first.children[0]]
        return Refusal("", line, f"the division by {name} stays: {what} may be negative, or more than 32 bits")
    if not 0 < launch.numbers.get(name, 0) <= LARGEST:
        return Refusal("", line, f"the division by {name} stays: {name} may be zero or negative")
    return Divisor(name, tuple(changed), bool(unsigned), len(unsigned) == len(changed))


def _change(kernel: KernelSource, divisors: Sequence[Divisor]) -> Change:
    helper = OF_32_BITS if any(one.unsigned for one in divisors) else OF_31_BITS
    there = helper.format(name="Divisor", step=kernel.step) in kernel.text
    struct = "Divisor" if there else kernel.fresh("Divisor")
    inner = kernel.indent(kernel.body) + kernel.step
    start = kernel.body.start_byte + 1
    edits = [] if there else [Edit(kernel.above, kernel.above, helper.format(name=struct, step=kernel.step))]
    by = {one.name: kernel.fresh(f"by_{one.name}") for one in divisors}
    made = "".join(f"\n{inner}{struct} {by[one.name]}({one.name});" for one in divisors)
    edits.append(Edit(start, start, made))
    changed = {node.id: by[one.name] for one in divisors for node in one.divisions}
    nodes = [node for one in divisors for node in one.divisions]
    for node in nodes:
        if not any(node != other and inside(node, other) for other in nodes):
            edits.append(Edit(node.start_byte, node.end_byte, _called(kernel, node, changed)))
    names = [one.name for one in divisors]
    listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    title = f"divide by {listed} with {'their reciprocals' if len(names) > 1 else 'its reciprocal'}, computed once"
    line = min(kernel.line(node) for node in nodes)
    return Change("", title, line, tuple(edits), promise="; ".join(one.promise for one in divisors))


def _called(kernel: KernelSource, node: Node, changed: Mapping[int, str]) -> str:
    """The call in place of a division, with those inside of it."""
    left = kernel.replaced(
        _bare(node.children[0]), lambda part: _called(kernel, part, changed) if part.id in changed else None
    )
    what = "quotient" if kernel[node.children[1]] == "/" else "remainder"
    call = f"{changed[node.id]}.{what}({left})"
    # unsigned where it was int: of no consequence as an index, but -1 + 2u is no -1 + 2 where it becomes 64 bits
    return f"(int){call}" if _kind(kernel, node) == "int" and _sign_matters(kernel, node) else call


def _is_float(kernel: KernelSource, node: Node) -> bool:
    """Whether an expression is a float: the division by an integer is one of floats then."""
    for leaf in kernel.find("identifier", "number_literal", within=node):
        text = kernel[leaf]
        if leaf.type == "number_literal":
            if "." in text:
                return True
            continue
        if _within_brackets(leaf, node):
            continue
        types = [parameter.type for parameter in kernel.parameters if parameter.name == text]
        declarations = [one.parent for one in kernel.declarators(text) if one.parent]
        types += [kernel[kind] for one in declarations if (kind := one.child_by_field_name("type"))]
        if any(kernel.plain_type(kind) in FLOATS for kind in types):
            return True
    return False


def _within_brackets(leaf: Node, outer: Node) -> bool:
    """Whether it is part of an index."""
    node: Node | None = leaf
    while node is not None and node != outer:
        if node.type == "subscript_argument_list":
            return True
        node = node.parent
    return False


def _sign_matters(kernel: KernelSource, node: Node) -> bool:
    """Whether it makes a difference that a non-negative int is unsigned there."""
    up = node.parent
    while up is not None and up.type == "parenthesized_expression":
        up = up.parent
    if up is None:
        return True
    if up.type == "binary_expression":
        return kernel[up.children[1]] not in ("==", "!=")
    declared = kernel[up.parent] if up.type == "init_declarator" and up.parent is not None else ""
    return up.type != "subscript_argument_list" and (not declared or "auto" in declared.split())


def _by_power_of_two(kernel: KernelSource, divisions: list[Node]) -> Proposals:
    edits: list[Edit] = []
    first = None
    for node in divisions:
        left, operator, right = node.children[0], kernel[node.children[1]], node.children[2]
        number = kernel.constant(right)
        if number is None or number < 2 or number & (number - 1) or _kind(kernel, left) != "int":
            continue  # unsigned ones are shifts for the compiler already
        if not is_non_negative(kernel, left):
            yield Refusal("", kernel.line(node), f"{kernel[node]} stays: {kernel[left]} may be negative")
            continue
        first = first or node
        simple = _bare(left).type in ("identifier", "number_literal", "subscript_expression")
        cast = f"(unsigned){kernel[_bare(left)]}" if simple else f"(unsigned)({kernel[_bare(left)]})"
        edits.append(Edit(left.start_byte, left.end_byte, cast))
        if _sign_matters(kernel, node):
            edits[-1] = Edit(node.start_byte, node.end_byte, f"(int)({cast} {operator} {kernel[right]})")
    outermost = [e for e in edits if not any(f != e and f.start <= e.start and e.end <= f.end for f in edits)]
    if first is not None:
        many = "s" if len(outermost) > 1 else ""
        title = f"divide unsigned numbers by {'powers' if many else 'a power'} of two"
        yield Change("", title, kernel.line(first), tuple(outermost))


def _bare(node: Node) -> Node:
    return node.named_children[0] if node.type == "parenthesized_expression" else node


def _in_loop(node: Node | None) -> bool:
    while node is not None and node.type != "function_definition":
        if node.type in LOOPS:
            return True
        node = node.parent
    return False


def _kind(kernel: KernelSource, node: Node) -> str:
    """ "int" or "unsigned" for an expression of 32 bits, else ""."""
    node = _bare(node)
    if node.type == "number_literal":
        text = kernel[node].lower()
        if kernel.constant(node) is None or "l" in text:
            return ""
        return "unsigned" if text.endswith("u") else "int"
    if node.type == "field_expression":
        return "unsigned" if kernel[node.children[0]] in BUILT_IN else ""
    if node.type == "identifier":
        return _declared_kind(kernel, kernel[node])
    if node.type == "subscript_expression":
        types = [p.type for p in kernel.parameters if p.pointer and p.name == kernel[node.children[0]]]
        return next(("int" if t in SIGNED else "unsigned" if t in UNSIGNED else "" for t in types), "")
    if node.type == "binary_expression" and kernel[node.children[1]] in ("+", "-", "*", "/", "%", "&", ">>", "|"):
        kinds = {_kind(kernel, node.children[0]), _kind(kernel, node.children[2])}
        return "" if "" in kinds else "unsigned" if "unsigned" in kinds else "int"
    return ""


def _declared_kind(kernel: KernelSource, name: str) -> str:
    types = [parameter.type for parameter in kernel.parameters if parameter.name == name and not parameter.pointer]
    for declarator in kernel.declarators(name):
        kind = declarator.parent.child_by_field_name("type") if declarator.parent else None
        named = declarator.child_by_field_name("declarator") if declarator.type == "init_declarator" else declarator
        plain = named is not None and named.type == "identifier"
        types.append(kernel[kind] if kind is not None and plain else "")
    kinds = {"int" if t in SIGNED else "unsigned" if t in UNSIGNED else "" for t in types}
    return kinds.pop() if len(kinds) == 1 else ""


def is_non_negative(kernel: KernelSource, node: Node, known: frozenset[str] = frozenset()) -> bool:
    """Whether an int is at least 0: computed from thread and block numbers and literals, or begins so and grows."""
    node = _bare(node)
    if not _kind(kernel, node):
        return False
    if node.type in ("number_literal", "field_expression"):
        return True
    if node.type == "binary_expression":
        operator = kernel[node.children[1]]
        sides = [is_non_negative(kernel, node.children[0], known), is_non_negative(kernel, node.children[2], known)]
        return any(sides) if operator == "&" else operator != "-" and all(sides)
    if node.type != "identifier":
        return False
    name = kernel[node]
    if name in known:
        return True  # it is the one that grows
    declared = kernel.declarators(name)
    if len(declared) != 1:
        return False
    first = declared[0].child_by_field_name("value")
    return first is not None and is_non_negative(kernel, first, known) and all(
        _grows(kernel, use, known | {name}) for use in kernel.written(name)
    )  # fmt: skip


def _grows(kernel: KernelSource, use: Node, known: frozenset[str]) -> bool:
    up = use.parent
    if up is None:
        return False
    if up.type == "update_expression":
        return "++" in kernel[up]
    if up.type == "assignment_expression" and kernel[up.children[1]] in ("+=", "=", "/=", "%=", ">>="):
        return is_non_negative(kernel, up.children[2], known)
    return False
