"""Half-warp pattern: each half of the warp has a constant stride; the second most common pattern.

Rows of a 16-wide tile, broadcasts, strided walks: two starts and two steps give all 32 addresses, so bounds,
counts and data need no look at single lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder
from warplens.emulator.codegen.vector_types import I1, I32, I64, LANES, undefined, vector

HALF = LANES // 2


@dataclass(frozen=True)
class HalfWarpWalk:
    """Half-warp walk: 16 lanes at first, first + step ... last."""

    first: llvm.Value
    step: llvm.Value
    last: llvm.Value


@dataclass(frozen=True)
class HalfWarpPattern:
    """Half-warp pattern.  `regular`: both halves walk with a constant step of 0 to 31 bytes, all addresses aligned."""

    regular: llvm.Value
    walks: tuple[HalfWarpWalk, HalfWarpWalk]
    size: int


def may_walk(b: llvm.IRBuilder, address: llvm.Value) -> llvm.Value:
    """Whether the first three lanes of each half have one step: a quick test of what match_walks() finds in full."""
    equal = []
    for start in (0, HALF):
        one, two, three = (b.extract_element(address, llvm.IRConstant(I32, start + lane)) for lane in range(3))
        equal.append(b.icmp_signed("==", b.sub(two, one), b.sub(three, two)))
    return b.and_(*equal)


def match_walks(code: StructuredBuilder, address: llvm.Value, size: int) -> HalfWarpPattern:
    """Matches an address vector as two half-warp walks."""
    b = code.b
    kind = address.type.element
    nothing = undefined(address.type)
    left = [
        *range(1, HALF),
        HALF - 1,
        *range(HALF + 1, LANES),
        LANES - 1,
    ]  # the right neighbour inside the half
    steps = b.sub(b.shuffle_vector(address, nothing, llvm.IRConstant(vector(I32), left)), address)
    walks = []
    expected: list[llvm.Value] = []
    for start in (0, HALF):
        first = b.extract_element(address, llvm.IRConstant(I32, start))
        step = b.extract_element(steps, llvm.IRConstant(I32, start))
        last = b.add(first, b.mul(step, llvm.IRConstant(kind, HALF - 1)))
        walks.append(HalfWarpWalk(first, step, last))
        expected.append(step)
    pick = [0] * HALF + [HALF] * HALF
    wanted = b.shuffle_vector(steps, nothing, llvm.IRConstant(vector(I32), pick))
    same = b.bitcast(b.icmp_signed("==", steps, wanted), I32)
    # The last lane of each half has no right neighbour.
    free = (1 << (HALF - 1)) | (1 << (LANES - 1))
    regular = b.icmp_signed("==", b.or_(same, llvm.IRConstant(I32, free)), llvm.IRConstant(I32, -1))
    bits = b.or_(b.or_(walks[0].first, walks[0].step), b.or_(walks[1].first, walks[1].step))
    aligned = b.icmp_signed("==", b.and_(bits, llvm.IRConstant(kind, size - 1)), llvm.IRConstant(kind, 0))
    short = [b.icmp_unsigned("<", w.step, llvm.IRConstant(kind, 32)) for w in walks]
    return HalfWarpPattern(all_of(b, [regular, aligned, *short]), (walks[0], walks[1]), size)


def all_of(b: llvm.IRBuilder, conditions: Sequence[llvm.Value]) -> llvm.Value:
    total: llvm.Value = llvm.IRConstant(I1, 1)
    for condition in conditions:
        total = b.and_(total, condition)
    return total


def count_units(code: StructuredBuilder, pattern: HalfWarpPattern, shift: int) -> llvm.Value:
    """How many aligned units of 2^shift bytes the walks touch; steps must not skip one."""
    b = code.b
    spans = []
    for walk in pattern.walks:
        kind = walk.first.type
        end = b.add(walk.last, llvm.IRConstant(kind, pattern.size - 1))
        spans.append((b.lshr(walk.first, llvm.IRConstant(kind, shift)), b.lshr(end, llvm.IRConstant(kind, shift))))
    (f, g), (s, t) = spans
    one = llvm.IRConstant(f.type, 1)
    each = b.add(b.add(b.sub(g, f), one), b.add(b.sub(t, s), one))
    low = b.select(b.icmp_unsigned(">", f, s), f, s)
    high = b.select(b.icmp_unsigned("<", g, t), g, t)
    shared = b.select(b.icmp_unsigned(">=", high, low), b.add(b.sub(high, low), one), llvm.IRConstant(f.type, 0))
    return _wide(b, b.sub(each, shared))


def _wide(b: llvm.IRBuilder, value: llvm.Value) -> llvm.Value:
    return value if value.type == I64 else b.zext(value, I64)


def is_dense(code: StructuredBuilder, pattern: HalfWarpPattern) -> llvm.Value:
    """Whether each half is one place, or consecutive ones."""
    b = code.b
    checks = []
    for walk in pattern.walks:
        kind = walk.first.type
        still = b.icmp_unsigned("==", walk.step, llvm.IRConstant(kind, 0))
        checks.append(b.or_(still, b.icmp_unsigned("==", walk.step, llvm.IRConstant(kind, pattern.size))))
    return all_of(b, checks)


def is_one_walk(code: StructuredBuilder, pattern: HalfWarpPattern) -> llvm.Value:
    """Whether the second half continues where the first ends, with the same step above zero."""
    b = code.b
    first, second = pattern.walks
    kind = first.first.type
    moving = b.icmp_unsigned("!=", first.step, llvm.IRConstant(kind, 0))
    follows = b.icmp_unsigned("==", second.first, b.add(first.last, first.step))
    return all_of(b, [moving, follows, b.icmp_unsigned("==", first.step, second.step)])


def skips_every_second(code: StructuredBuilder, pattern: HalfWarpPattern) -> llvm.Value:
    """Whether a warp of one walk leaves out every second place."""
    b = code.b
    step = pattern.walks[0].step
    return b.and_(is_one_walk(code, pattern), b.icmp_unsigned("==", step, llvm.IRConstant(step.type, 2 * pattern.size)))


def span(code: StructuredBuilder, pattern: HalfWarpPattern, shift: int) -> llvm.Value:
    """Units of 2^shift bytes from the lowest to the highest accessed."""
    b = code.b
    first, second = pattern.walks
    kind = first.first.type
    low = b.select(b.icmp_unsigned("<", first.first, second.first), first.first, second.first)
    high = b.select(b.icmp_unsigned(">", first.last, second.last), first.last, second.last)
    return b.sub(b.lshr(high, llvm.IRConstant(kind, shift)), b.lshr(low, llvm.IRConstant(kind, shift)))


def is_two_places(code: StructuredBuilder, pattern: HalfWarpPattern) -> llvm.Value:
    """Whether each half accesses one place."""
    b = code.b
    steps = b.or_(pattern.walks[0].step, pattern.walks[1].step)
    return b.icmp_unsigned("==", steps, llvm.IRConstant(steps.type, 0))
