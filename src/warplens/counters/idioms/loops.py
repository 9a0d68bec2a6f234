"""Loop idioms: unrolling, hoisted loads, and other loop transformations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import gcd

from warplens.core.program import Constant, Immediate, Instruction, Loop, Operand, Register
from warplens.counters.idioms._def_use import DefUse, Word
from warplens.counters.idioms._idiom import Found, idiom
from warplens.counters.opcodes import access, category

FLOATING = frozenset({"single precision", "double precision", "half precision", "tensor"})
ADDING = frozenset({"IADD3", "IADD", "VIADD", "UIADD3", "UIADD"})
Terms = Counter[object]
"""What is added: names of registers and "1" with their factors."""


@dataclass(frozen=True)
class Body:
    """A loop's pattern: how often it has each memory and floating-point opcode, and its inductions.

    steps    register -> what one round adds to it
    """

    loop: Loop
    instructions: list[int]
    pattern: Counter[str]
    steps: dict[Word, Terms]


def bodies(flow: DefUse) -> list[Body]:
    """The innermost loops, in code order."""
    loops = flow.program.loops
    inner = [l for l in loops if not any(other.blocks < l.blocks for other in loops)]  # noqa: E741
    return [_body(flow, loop) for loop in inner]


def _body(flow: DefUse, loop: Loop) -> Body:
    members = flow.body(loop)
    pattern = Counter(key for i in members if (key := _key(flow.instructions[i])))
    return Body(loop, members, pattern, steps(flow, members))


def _key(instruction: Instruction) -> str:
    """What makes two instructions copies of each other."""
    found = access(instruction)
    if found is not None:
        return f"{instruction.base} {found.bits}" if found.space != "constant" else ""
    return instruction.base if category(instruction) in FLOATING else ""


@idiom("unrolled loop", encloses=True)
def unrolled(flow: DefUse) -> Iterator[Found]:
    """A loop's body has each memory and floating-point opcode k times as often as the remainder loop, and where
    both step the same variable its step is k times that of the remainder loop.  Without a remainder loop: k times
    as often as the code outside of the loop, which has the k - 1 remaining rounds in sequence; or k times each, and
    a counter that steps by k, or addresses one step apart and a pointer that steps k times as far.  A struct that
    takes two accesses is not taken for two rounds."""
    for body, rest in _pairs(flow):
        if rest is None:
            yield from _unrolled_without_loop(flow, body)
            continue
        factor = _ratio(body.pattern, rest.pattern)
        proof = _step_proof(body, rest, factor)
        left = f"the remainder runs in the loop at {rest.loop.header * 16:#06x}"
        yield Found(f"{factor} rounds in one{proof}; {left}", body.instructions, f"loop unrolled by {factor}")


def _pairs(flow: DefUse) -> Iterator[tuple[Body, Body | None]]:
    """Every innermost loop except remainder loops, with its remainder loop."""
    found = bodies(flow)
    rests = {body.loop.header: _rest(flow, body, found) for body in found}
    remainders = {rest.loop.header for rest in rests.values() if rest is not None}
    for body in found:
        if body.loop.header not in remainders:
            yield body, rests[body.loop.header]


def _rest(flow: DefUse, body: Body, found: list[Body]) -> Body | None:
    """The smallest loop of the same source lines whose pattern is a k-th of this one's."""
    lines = _lines(flow, body)
    fitting = [
        other for other in found
        if other is not body and _ratio(body.pattern, other.pattern) > 1 and _lines(flow, other) & lines
    ]  # fmt: skip
    return min(fitting, key=lambda other: sum(other.pattern.values()), default=None)


def _lines(flow: DefUse, body: Body) -> set[object]:
    return {flow.instructions[i].source for i in body.instructions}


def _ratio(large: Counter[str], small: Counter[str]) -> int:
    """k if each count of one is k times that of the other, else 0."""
    if not small or large.keys() != small.keys():
        return 0
    ratios = {divmod(large[key], small[key]) for key in small}
    (factor, left), *others = ratios
    return factor if not others and left == 0 else 0


def _step_proof(body: Body, rest: Body, factor: int) -> str:
    """Evidence from the induction variables, as text; "" where both loops step no common variable."""
    for word, terms in body.steps.items():
        once = rest.steps.get(word)
        if once and terms == Counter({t: factor * n for t, n in once.items()}):
            return f": {word[0]}{word[1]} steps {factor} times as far"
    constant = [abs(t["1"]) for t in body.steps.values() if set(t) == {"1"}]
    return f": the counter steps by {factor}" if factor in constant else ""


def _unrolled_without_loop(flow: DefUse, body: Body) -> Iterator[Found]:
    if factor := _factor_from_remainder(flow, body):
        rest = "the remaining round is" if factor == 2 else f"the {factor - 1} remaining rounds are"
        sentence = f"{factor} rounds in one; {rest} outside of the loop"
    elif (factor := reduce(gcd, body.pattern.values(), 0)) > 1 and (how := _advance(flow, body, factor)):
        sentence = f"its memory and floating-point instructions occur {factor} times in one round, {how}"
    else:
        return
    yield Found(sentence, body.instructions, f"loop unrolled by {factor}")


def _factor_from_remainder(flow: DefUse, body: Body) -> int:
    """k if the same source lines occur k - 1 times outside of all loops to k times in this one, else 0."""
    looped = {i for loop in flow.program.loops for i in flow.body(loop)}
    lines = _lines(flow, body)
    keys = (_key(i) for i in flow.instructions if i.index not in looped and i.source in lines)
    outside = Counter(key for key in keys if key)
    if not outside or outside.keys() != body.pattern.keys():
        return 0
    found = {divmod(n, n - outside[key]) if n > outside[key] else (0, 1) for key, n in body.pattern.items()}
    (factor, left), *others = found
    return factor if not others and left == 0 else 0


def _advance(flow: DefUse, body: Body, factor: int) -> str:
    """Evidence that one round advances by `factor` rounds of the source, as text; "" if there is none."""
    constant = {abs(terms["1"]) for terms in body.steps.values() if set(terms) == {"1"}}
    steps_between = {b - a for run in _runs(flow, body) for a, b in pairwise(sorted(run))}
    if all(_stepped(flow, body, factor)) and constant & {factor * step for step in steps_between}:
        return "a step apart"
    return f"and the counter steps by {factor}" if factor in constant else ""


def _stepped(flow: DefUse, body: Body, factor: int) -> Iterator[bool]:
    """For each address register whether it is used at k offsets, one step apart."""
    for run in _runs(flow, body):
        yield len(run) >= factor and _even(sorted(run))


def _runs(flow: DefUse, body: Body) -> list[dict[int, int]]:
    """For each opcode and value of its address register the instructions by offset."""
    runs: dict[object, dict[int, int]] = {}
    for index in body.instructions:
        address, found = flow.address(index), access(flow.instructions[index])
        if address is not None and found is not None and found.space != "constant":
            key = flow.instructions[index].opcode, address.base, address.uniform, flow.base_sources(index)
            runs.setdefault(key, {})[address.offset] = index
    return list(runs.values())


@idiom("inner loop unrolled completely", encloses=True)
def completely_unrolled(flow: DefUse) -> Iterator[Found]:
    """Loads of one opcode from one address register at four or more offsets, all one step apart, with at
    least as many floating-point instructions, in a loop that uses other addresses once a round and that is
    not itself unrolled."""
    for body in [body for body, rest in _pairs(flow) if rest is None]:
        runs = _runs(flow, body)
        best = max((places for places in runs if _even(sorted(places))), key=len, default={})
        floating = sum(n for key, n in body.pattern.items() if " " not in key)
        if len(best) >= 4 and floating >= len(best) and any(len(run) == 1 for run in runs):
            step = sorted(best)[1] - sorted(best)[0]
            yield Found(f"{len(best)} of its loads are in sequence, {step} bytes apart", best.values())


def _even(places: list[int]) -> bool:
    return len({b - a for a, b in pairwise(places)}) == 1


@idiom("grid-stride loop")
def grid_stride(flow: DefUse) -> Iterator[Found]:
    """A loop variable that is stepped by blockDim * gridDim (a multiple of it where the loop is unrolled):
    found only where the constants have names."""
    for body in bodies(flow):
        strides = {
            register for terms in body.steps.values() for register in terms
            if isinstance(register, tuple) and _is_grid(flow, body, register)
        }  # fmt: skip
        members = [i for i in body.instructions if strides & flow.reads[i] and _adds(flow, i)]
        if members:
            yield Found("each thread goes on by the number of threads in the grid", members)


def _adds(flow: DefUse, index: int) -> bool:
    return flow.base(index) in ADDING or flow.instructions[index].opcode == "IMAD.IADD"


def _is_grid(flow: DefUse, body: Body, register: Word) -> bool:
    makers = flow.definers(body.instructions[0], register) - set(body.instructions)
    products = [m for m in makers if flow.base(m) in ("IMAD", "UIMAD")]
    return any(_names(flow, product) >= {"blockDim", "gridDim"} for product in products)


def _names(flow: DefUse, index: int) -> set[str]:
    """Names without axis of the constants that an instruction uses, read by itself or just before."""
    places = [index, *flow.sources(index)]
    constants = [o for i in places for o in flow.instructions[i].operands if isinstance(o, Constant)]
    return {name.partition(".")[0] for c in constants if (name := flow.name_of(c))}


def steps(flow: DefUse, members: list[int]) -> dict[Word, Terms]:
    """What one round of a loop adds to the registers that it changes by nothing but additions."""
    written = Counter(word for i in members for word in flow.writes[i])
    found: dict[Word, Terms] = {}
    for word in written:
        terms = _sum(flow, members, word)
        if terms:
            found[word] = terms
    return found


def _sum(flow: DefUse, members: list[int], word: Word) -> Terms | None:
    terms: Terms = Counter()
    for index in members:
        if word not in flow.writes[index]:
            continue
        added = _added(flow.instructions[index], word)
        if added is None:
            return None
        terms.update(added)
    inside = {w for i in members for w in flow.writes[i]}
    return None if any(term in inside for term in terms) else +terms or terms


def _added(instruction: Instruction, word: Word) -> Terms | None:
    """What `R = R + a + b` adds to R; None if it is something else or does not always run."""
    plain = instruction.base in ADDING and "X" not in instruction.modifiers
    unit = instruction.opcode == "IMAD.IADD"
    if instruction.guard is not None or not (plain or unit):
        return None
    values = [o for o in instruction.operands[1:] if not (isinstance(o, Register) and o.file in ("P", "UP"))]
    if unit:
        values = [values[0], values[2]]
    terms: Terms = Counter()
    own = 0
    for value in values:
        if isinstance(value, Register) and (value.file, value.index) == word and not value.negate:
            own += 1
        elif not _count(value, terms):
            return None
    return terms if own == 1 else None


def _count(value: Operand, terms: Terms) -> bool:
    """Adds a term; False for one that cannot be named."""
    if isinstance(value, Immediate):
        terms["1"] += value.bits
    elif isinstance(value, Register):
        if value.index >= 0:
            terms[(value.file, value.index)] += -1 if value.negate else 1
    elif isinstance(value, Constant) and value.index is None:
        terms[("c", value.bank, value.offset)] += -1 if value.negate else 1
    else:
        return False
    return True
