"""Outlined accesses: in large code one function serves all loads and stores of one form.

An inlined access (access_emission.py) is fifty LLVM instructions, most of them for rare cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from warplens import llvm
from warplens.emulator.access import access_emission
from warplens.emulator.access.gather_scatter import AccessRoutines, return_words
from warplens.emulator.access.pattern import pattern_of
from warplens.emulator.access.site import V32, AccessSite
from warplens.emulator.analysis.affine import AffineValue
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function
from warplens.emulator.codegen.vector_types import I32, PTR, undefined
from warplens.isa.dsl.warp_interface import Space

VOID = llvm.VoidType()
COMMON = [PTR, PTR, PTR, I32, PTR, PTR, I32]  # env, block, warp, instruction, counters, hits, mask


@dataclass(frozen=True)
class OutlinedAccess:
    """Outlined access: the form of an address: `steps` of an affine one, None where they are arguments."""

    kind: str
    steps: tuple[int | None, ...] | None

    @staticmethod
    def of(address: Any) -> tuple[OutlinedAccess, list[llvm.Value]]:
        """The form of an address, and its arguments."""
        if not isinstance(address, AffineValue):
            return OutlinedAccess(str(address.type), None), [address]
        base, *steps = address.parts
        known = tuple(step if isinstance(step, int) else None for step in steps)
        return OutlinedAccess(f"i{address.bits}", known), [base, *(s for s in steps if not isinstance(s, int))]

    def rebuilt(self, numbers: Sequence[llvm.Value]) -> Any:
        if self.steps is None:
            return numbers[0]
        base, *rest = numbers
        x, y = (rest.pop(0) if step is None else step for step in self.steps)
        return AffineValue(int(self.kind[1:]), (base, x, y))


def load(
    routines: AccessRoutines,
    site: AccessSite,
    space: Space,
    address: Any,
    size: int,
    signed: bool,
    fault: llvm.BasicBlock,
) -> list[llvm.Value]:
    """As access_emission.load."""
    one = site.together and space in ("global", "shared") and site.e.is_scalar(address)
    kind, words = I32 if one else V32, max(size // 4, 1)
    result: llvm.Type = kind if words == 1 else llvm.LiteralStructType([kind] * words)
    usual = site.usual(pattern_of(address, site.tile, space, size, stores=False)) is not None
    form, numbers = OutlinedAccess.of(address)
    name = f"load {space} {size} {signed} {one} {_key(site, form, usual)}"
    made = routines.module.globals.get(name)
    if made is None:
        made, code = function(routines.module, name, result, [*COMMON, *(n.type for n in numbers)])
        inner, given = _inner_site(site, made, code, usual), made.args[len(COMMON) :]
        wrong = made.append_basic_block("wrong")
        got = access_emission.load(routines, inner, space, form.rebuilt(given), size, signed, wrong)
        return_words(code.b, got, result)
        code.b.position_at_end(wrong)
        code.b.ret(undefined(result))
    whole = site.b.call(made, [*_common(site), *numbers])
    access_emission.return_on_fault(site, fault, site.b.append_basic_block("after"))
    return [whole] if words == 1 else [site.b.extract_value(whole, k) for k in range(words)]


def store(
    routines: AccessRoutines,
    site: AccessSite,
    space: Space,
    address: Any,
    data: Sequence[llvm.Value],
    size: int,
    fault: llvm.BasicBlock,
) -> None:
    """As access_emission.store."""
    usual = site.usual(pattern_of(address, site.tile, space, size, stores=True)) is not None
    form, numbers = OutlinedAccess.of(address)
    name = f"store {space} {size} {_key(site, form, usual)}"
    made = routines.module.globals.get(name)
    if made is None:
        made, code = function(routines.module, name, VOID, [*COMMON, *(v.type for v in (*numbers, *data))])
        inner, given = _inner_site(site, made, code, usual), list(made.args[len(COMMON) :])
        wrong = made.append_basic_block("wrong")
        place = form.rebuilt(given[: len(numbers)])
        access_emission.store(routines, inner, space, place, given[len(numbers) :], size, wrong)
        code.b.ret_void()
        code.b.position_at_end(wrong)
        code.b.ret_void()
    site.b.call(made, [*_common(site), *numbers, *data])
    access_emission.return_on_fault(site, fault, site.b.append_basic_block("after"))


def _key(site: AccessSite, form: OutlinedAccess, usual: bool) -> str:
    return f"{form.kind} {form.steps} {usual} {site.guarded} {site.together}"


def _common(site: AccessSite) -> list[llvm.Value]:
    assert site.hits is not None
    return [*site.common(), site.hits, site.mask]


def _inner_site(site: AccessSite, made: llvm.Function, code: StructuredBuilder, usual: bool) -> AccessSite:
    """The site inside the outlined function."""
    env, block, warp, index, counters, hits, mask = made.args[: len(COMMON)]
    return replace(
        site, code=code, env=env, block=block, warp=warp, index=index, counters=counters, hits=hits, mask=mask,
        usual=(lambda pattern: pattern) if usual else (lambda pattern: None),
    )  # fmt: skip
