"""Division idioms: quotients and roots, for which the GPU has no instruction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warplens.core.program import Immediate, Register
from warplens.counters.idioms._def_use import DefUse, immediates, label, span
from warplens.counters.idioms._idiom import Found, idiom

ROUND_UP = "RP"
SMALLEST = 0x0D00_0000  # the float 2^-101
COMPLEMENT, EXCLUSIVE_OR = 0x33, 0x3C  # tables of LOP3: not b, a xor b
NEGATING = frozenset({"IADD3", "IADD", "IMAD", "VIADD", "MOV"})
CHANGING = frozenset({"IADD3", "IADD", "IMAD", "VIADD", "LOP3", "MOV"})


@idiom("division by a variable")
def variable_division(flow: DefUse) -> Iterator[Found]:
    """An approximate reciprocal (I2F rounded up, MUFU.RCP, F2I), one Newton step in integers, a product's
    high word, and guarded corrections of quotient or remainder.  One reciprocal can serve several
    divisions; the first of them counts it as its own."""
    for reciprocal in flow.named("MUFU"):
        chain = _reciprocal(flow, reciprocal)
        for quotient in sorted(_quotients(flow, chain)):
            quotients, remainders, others = _finished(flow, quotient)
            members = chain | quotients | remainders | others
            kinds = [("division", quotients - {quotient} or {quotient}), ("remainder", remainders)]
            wanted = [kind for kind, values in kinds if _used_outside(flow, values, members)]
            name = f"{' and '.join(wanted) or 'division'} by a variable"
            yield Found(f"{len(members)} instructions a thread: a GPU has none for it", members, name)
            chain = set()


def _reciprocal(flow: DefUse, reciprocal: int) -> set[int]:
    """The instructions that make the refined integer reciprocal, empty if it is none."""
    converted = {i for i in flow.sources(reciprocal) if flow.base(i) in ("I2F", "UI2F")}
    if flow.instructions[reciprocal].opcode != "MUFU.RCP" or not converted:
        return set()
    if not all(ROUND_UP in flow.instructions[i].modifiers for i in converted):
        return set()
    back = {j for i in flow.users[reciprocal] for j in flow.users[i] if flow.base(j) == "F2I"}
    if not back:
        return set()
    between = {i for j in back for i in flow.sources(j) if i in flow.users[reciprocal]}
    absolute = {i for j in converted for i in flow.sources(j) if flow.base(i) == "IABS"}
    reached = back | {i for j in back for i in flow.users[j] if _negates(flow, i)}
    error = {i for j in reached for i in flow.users[j] if flow.instructions[i].opcode == "IMAD"}
    negated = {i for j in error for i in flow.sources(j) if _negates(flow, i)}
    refined = {i for j in error for i in flow.users[j] if _is_high(flow, i)}
    zeros = {i for j in refined for i in flow.sources(j) if not flow.reads[i] and i not in absolute}
    return {reciprocal, *converted, *back, *between, *absolute, *negated, *error, *refined, *zeros}


def _quotients(flow: DefUse, chain: set[int]) -> set[int]:
    """The products with the refined reciprocal."""
    refined = {i for i in chain if _is_high(flow, i)}
    return {i for j in refined for i in flow.users[j] if _is_high(flow, i) and i not in chain}


def _finished(flow: DefUse, quotient: int) -> tuple[set[int], set[int], set[int]]:
    """Intermediate quotients and remainders, and the instructions that correct them."""
    others = {i for i in flow.sources(quotient) if flow.base(i) == "IABS"}
    copies = {i for i in flow.sources(quotient) if _copies_absolute(flow, i)}
    others |= copies | {i for j in copies for i in flow.sources(j)}
    negated = {i for i in flow.users[quotient] if _negates(flow, i)}
    products = {i for j in negated for i in flow.users[j] if flow.instructions[i].opcode == "IMAD"}
    quotients, extra = _corrected(flow, {quotient})
    remainders, more = _corrected(flow, products)
    compares = {i for j in products for i in flow.users[j] if flow.base(i) == "ISETP"}
    return quotients, remainders, others | negated | extra | more | compares


def _corrected(flow: DefUse, values: set[int]) -> tuple[set[int], set[int]]:
    """The values, their replacements by a guarded instruction or a select, and the instructions that decide it."""
    members: set[int] = set(values)
    deciding: set[int] = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        for index in _replacing(flow, value) - members:
            members.add(index)
            waiting.append(index)
            deciding |= _deciding(flow, index)
    return members, deciding


def _replacing(flow: DefUse, value: int) -> set[int]:
    """Guarded instructions that overwrite the value, and selects between it and a complement."""
    guarded = {
        i
        for word in flow.writes[value]
        for i in range(value + 1, min(value + 48, len(flow.instructions)))
        if word in flow.writes[i] and flow.base(i) in CHANGING and flow.guard_sources(i)
        and value in flow.definers(i, word) and _tests_numbers(flow, i)
    }  # fmt: skip
    selects = {i for i in flow.users[value] if flow.base(i) == "SEL" and _complements(flow, i)}
    signs = {i for i in flow.users[value] if flow.guard_sources(i) and _negates(flow, i)}
    return guarded | selects | {i for i in signs if _tests_numbers(flow, i)}


def _tests_numbers(flow: DefUse, index: int) -> bool:
    return all(flow.base(i) == "ISETP" for i in flow.guard_sources(index))


def _deciding(flow: DefUse, index: int) -> set[int]:
    """Comparisons that a correction hangs on, the sign of a product, the complement for a divisor of 0."""
    tests = {i for i in flow.sources(index) if flow.base(i) == "ISETP"}
    logic = {i for j in tests for i in flow.sources(j) if _table(flow, i) == EXCLUSIVE_OR}
    return tests | logic | (_complements(flow, index) if flow.base(index) == "SEL" else set())


def _complements(flow: DefUse, index: int) -> set[int]:
    return {i for i in flow.sources(index) if _table(flow, i) == COMPLEMENT}


def _table(flow: DefUse, index: int) -> int | None:
    found = immediates(flow.instructions[index]) if flow.base(index) == "LOP3" else []
    return found[-1] if found else None


def _is_high(flow: DefUse, index: int) -> bool:
    """The high word of a product of two registers (a uniform one is in sm_100's UIMAD)."""
    return flow.base(index) in ("IMAD", "UIMAD") and flow.instructions[index].modifiers[:1] == ("HI",)


def _negates(flow: DefUse, index: int) -> bool:
    """-R and nothing else."""
    operands = [o for o in flow.instructions[index].operands if isinstance(o, Register) and o.index >= 0]
    values = [o for o in operands[1:] if o.file in ("R", "UR")]
    plain = flow.base(index) in NEGATING and not immediates(flow.instructions[index])
    return plain and len(values) == 1 and values[0].negate


def _copies_absolute(flow: DefUse, index: int) -> bool:
    sources = flow.sources(index) if flow.base(index) in ("IMAD", "MOV") else frozenset()
    return len(sources) == 1 and all(flow.base(i) == "IABS" for i in sources)


def _used_outside(flow: DefUse, values: Iterable[int], members: set[int]) -> bool:
    return any(flow.users[value] - members for value in values)


@idiom("division by a constant")
def constant_division(flow: DefUse) -> Iterator[Found]:
    """The high word of a product with a large constant M, shifted right by s, where 2^(32+s) / M is a whole
    number but for the rounding of M: that number is the divisor (Hacker's Delight, chapter 10).  A constant
    that is too long by one bit shows as an addition of the dividend."""
    for index in flow.named("IMAD"):
        magic = _magic(flow, index)
        if magic is None:
            continue
        members, shift, long = _shifted(flow, index)
        divisor = _divisor((magic + (1 << 32)) if long else magic, shift)
        if divisor is None:
            continue
        back = {
            i for j in members for i in flow.users[j]
            if flow.base(i) == "IMAD" and -divisor in immediates(flow.instructions[i])
        }  # fmt: skip
        name = f"{'remainder' if back else 'division'} by the constant {divisor}"
        members |= back
        sentence = f"{len(members)} instructions: a product with {magic:#x} in place of a division"
        yield Found(sentence, members, name)


def _magic(flow: DefUse, index: int) -> int | None:
    """The constant, as unsigned word."""
    instruction = flow.instructions[index]
    if not {"HI", "WIDE"} & set(instruction.modifiers):
        return None
    found = [bits & 0xFFFF_FFFF for bits in immediates(instruction)]
    low = min(flow.writes[index]) if "WIDE" in instruction.modifiers else None
    if low and any(low in flow.reads[i] and index in flow.definers(i, low) for i in flow.users[index]):
        return None  # the whole product is wanted
    return next((m for m in found if m >= 1 << 16 and m & (m - 1)), None)


def _shifted(flow: DefUse, index: int) -> tuple[set[int], int, bool]:
    """The instructions after the product, the shift that they make, and whether the dividend is added."""
    high = max(flow.writes[index]) if flow.writes[index] else ("R", -1)
    members, shift, long = {index}, 0, False
    value = index
    for _ in range(4):
        following = [i for i in sorted(flow.users[value]) if high in flow.reads[i] and i > value]
        members |= {i for i in following if _shift(flow, i) == 31 and flow.base(i) == "SHF"}  # the sign
        added = [i for i in following if _adds_back(flow, i)]
        shifts = [i for i in following if 0 < _shift(flow, i) < 31]
        if added and not long and shift == 0 and flow.base(value) == "IMAD":
            members.add(added[0])
            half = [i for i in flow.users[added[0]] if _shift(flow, i) == 1]
            if not half:
                break
            value, long, shift = half[0], True, 1
        elif shifts:
            value, shift = shifts[0], shift + _shift(flow, shifts[0])
        else:
            break
        members.add(value)
        high = max(flow.writes[value])
    return members, shift, long


def _adds_back(flow: DefUse, index: int) -> bool:
    operands = [o for o in flow.instructions[index].operands[1:] if isinstance(o, Register)]
    return flow.base(index) in ("IADD3", "IADD") and any(o.negate for o in operands if o.index >= 0)


def _shift(flow: DefUse, index: int) -> int:
    """How far right the instruction shifts, 0 if it does not."""
    instruction = flow.instructions[index]
    found = immediates(instruction)
    if len(found) != 1 or not 0 < found[0] < 32:
        return 0
    if instruction.base in ("SHF", "USHF") and instruction.modifiers[:1] == ("R",):
        return found[0]
    return 32 - found[0] if instruction.base == "LEA" and "HI" in instruction.modifiers else 0


def _divisor(magic: int, shift: int) -> int | None:
    """M is 2^(32+s) / d, rounded up: d times M lies above the power by less than d."""
    power = 1 << (32 + shift)
    divisor = round(power / magic)
    excess = magic * divisor - power
    return divisor if divisor & (divisor - 1) and 0 < excess <= max(divisor, 1 << shift) else None


@idiom("float division")
def float_division(flow: DefUse) -> Iterator[Found]:
    """FCHK asks whether the operands need the slow path; next to it a reciprocal (MUFU.RCP) of the same
    divisor with its corrections (FFMA)."""
    for check in flow.named("FCHK"):
        divisor = flow.instructions[check].operands[-1]
        reciprocals = [
            i for i in flow.named("MUFU")
            if abs(i - check) < 32 and flow.instructions[i].opcode == "MUFU.RCP"
            and _same_value(flow, i, flow.instructions[i].operands[-1], check, divisor)
        ]  # fmt: skip
        refined = _refined(flow, reciprocals, ("FFMA",))
        decided = {i for i in flow.users[check] if flow.base(i) == "BRA"}
        members = {check, *refined, *decided}
        if reciprocals:
            yield Found(f"{len(members)} instructions without the slow path; __fdividef is shorter", members)


def _same_value(flow: DefUse, one: int, a: object, other: int, b: object) -> bool:
    if not (isinstance(a, Register) and isinstance(b, Register)):
        return a == b
    same = (a.file, a.index) == (b.file, b.index)
    return same and flow.operand_sources(one, a) == flow.operand_sources(other, b)


def _refined(flow: DefUse, start: Iterable[int], bases: tuple[str, ...]) -> set[int]:
    """The corrections after an approximation, as far as they are close to it."""
    first = list(start)
    near = max(first, default=0) + 24

    def step(index: int) -> set[int]:
        return {i for i in flow.users[index] if flow.base(i) in bases and index < i <= near}

    return flow.reach(first, step)


@idiom("square root")
def square_root(flow: DefUse) -> Iterator[Found]:
    """1 / sqrt(x) (MUFU.RSQ), multiplied by x and by 0.5, with two corrections, with a check of x's range;
    or MUFU.SQRT."""
    for root in flow.named("MUFU"):
        opcode = flow.instructions[root].opcode
        if opcode == "MUFU.SQRT":
            yield Found("one instruction, approximate", [root])
        elif opcode == "MUFU.RSQ" and _halves(flow, root) and (checked := _range_check(flow, root)):
            members = _refined(flow, [root], ("FMUL", "FFMA")) | checked
            yield Found(f"{len(members)} instructions without the slow path", members)


def _halves(flow: DefUse, root: int) -> bool:
    halves = [o for i in flow.users[root] for o in flow.instructions[i].operands if isinstance(o, Immediate)]
    return any(o.real is not None and o.real.strip() == "0.5" for o in halves)


def _range_check(flow: DefUse, root: int) -> set[int]:
    """The bits of x compared as an integer, above those of 2^-101."""
    near = [i for j in flow.sources(root) for i in flow.users[j] if abs(i - root) < 12]
    shifted = {i for i in near if SMALLEST in {-b & 0xFFFF_FFFF for b in immediates(flow.instructions[i])}}
    tests = {i for j in shifted for i in flow.users[j] if flow.base(i) == "ISETP"}
    return shifted | tests | {i for j in tests for i in flow.users[j] if flow.base(i) == "BRA"}


LIBRARY = {
    "div_s64": "64-bit division", "div_u64": "64-bit division", "rem_s64": "64-bit remainder",
    "rem_u64": "64-bit remainder", "rcp_rn_f32": "slow path of a float reciprocal",
    "sqrt_rn_f32": "slow path of a float square root", "div_rn_noftz_f32": "slow path of a float division",
    "div_rn_ftz_f32": "slow path of a float division", "div_rn_f64": "slow path of a double division",
    "rcp_rn_f64": "slow path of a double reciprocal", "dsqrt": "slow path of a double square root",
    "drsqrt": "slow path of a double root",
}  # fmt: skip
"""Functions that the compiler adds, by a part of their name behind `$__cuda_sm..._`."""


@idiom("library call")
def library_call(flow: DefUse) -> Iterator[Found]:
    """CALL of a function that the compiler has added: its name has `$__cuda_sm` in it.  The function's own
    instructions belong to its first call."""
    seen: set[int] = set()
    for call in flow.named("CALL"):
        target = label(flow.instructions[call])
        if target is None or "__cuda_sm" not in target.name:
            continue
        name = next((words for part, words in LIBRARY.items() if part in target.name), "library call")
        body = _function(flow, target.offset // 16) - seen
        seen |= body
        before = {i for i in range(max(call - 2, 0), call) if flow.base(i) in ("MOV", "IMAD")}
        yield Found(f"calls {target.name.rpartition('$')[2]}", {call, *before, *body}, name)


def _function(flow: DefUse, entry: int) -> set[int]:
    """The instructions that can be reached from the entry of a function."""
    blocks = {block.first: block for block in flow.program.blocks}
    reached = flow.reach([entry], lambda first: blocks[first].successors) if entry in blocks else set()
    return {i for first in reached for i in span(blocks[first])}
