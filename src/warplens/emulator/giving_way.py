"""Lanes that spin give way to the others: what YIELD and NANOSLEEP do to the splits of a warp.

Which split runs next was read off 64 warps whose lanes call up to four functions with a YIELD in each (H200,
measurements/h200/order.csv, `pointers`).  That lanes which wait at a BSYNC go on without those that only spin follows
from what the compiler emits for `while (atomicCAS(&lock, 0, 1));`: who has the lock waits there for who wants it; when
they do was read off two random programs (measurements/h200/random_programs.csv, 40048 and 40008).  That those who gave
way then wait at that BSYNC for nobody was read off 72 warps (measurements/h200/giving_way.csv).
"""

from __future__ import annotations

from functools import cached_property

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i32
from warplens.emulator.layout import WARPSYNC, Warp
from warplens.emulator.splits import VOID, Splits
from warplens.emulator.vectors import I1, I32, PTR


class GivingWay(Splits):
    """Routines of one module, each made when it is first asked for."""

    @cached_property
    def others(self) -> ir.Function:
        """others(warp): whether a split is ready, or lanes wait at a convergence barrier."""
        made, code = function(self.module, "others", I1, [PTR], inline=True)
        (warp,) = made.args
        b = code.b
        b.ret(code.nonzero(b.or_(code.load(Warp, warp, "ready"), self._waiting(code, warp))))
        return made

    def _waiting(self, code: Code, warp: ir.Value) -> ir.Value:
        """Lanes that wait at a convergence barrier: a few loads, seldom executed."""
        lanes: ir.Value = i32(0)
        for slot in range(WARPSYNC):
            lanes = code.b.or_(lanes, code.load(Warp, warp, "waiting", slot))
        return lanes

    def _ready(self, code: Code, warp: ir.Value) -> ir.Value:
        lanes = code.variable(I32, i32(0))
        code.each(
            code.load(Warp, warp, "ready"),
            lambda i: code.b.store(code.b.or_(code.b.load(lanes, typ=I32), self._mask(code, warp, i)), lanes),
        )
        return code.b.load(lanes, typ=I32)

    def _mask(self, code: Code, warp: ir.Value, slot: ir.Value) -> ir.Value:
        return code.load(Warp, warp, "ready_mask", slot)

    @cached_property
    def give_way(self) -> ir.Function:
        """give_way(warp, pc, mask): a split goes on when all others have had their turn.

        Those that have given way stand below the others, the one with the lowest lane on top.  When all have, they
        begin anew, but not with the one that was the last.  Until it runs again, no BSYNC waits for it.
        """
        made, code = function(self.module, "give_way", VOID, [PTR, I32, I32])
        warp, pc, mask = made.args
        b = code.b
        before = code.load(Warp, warp, "yielded")
        ready = self._ready(code, warp)
        fresh = b.and_(ready, b.not_(before))
        spins = b.select(code.nonzero(fresh), mask, b.or_(ready, mask))
        code.store(b.or_(code.load(Warp, warp, "away"), spins), Warp, warp, "away")
        b.call(self.push_last, [warp, pc, mask])
        below = code.load(Warp, warp, "buried")
        code.store(b.or_(below, i32(1)), Warp, warp, "buried")
        place = code.variable(I32, i32(0))
        last = b.sub(code.load(Warp, warp, "ready"), i32(1))

        def lower() -> ir.Value:
            """Whether the split above has given way too, and has no lower lane."""
            i = b.load(place, typ=I32)
            above = self._mask(code, warp, b.and_(b.add(i, i32(1)), i32(31)))
            sinks = b.icmp_unsigned("<", code.lowest(mask), code.lowest(above))
            sinks = b.and_(sinks, code.nonzero(b.and_(above, before)))
            return b.and_(sinks, b.icmp_signed("<", i, last))

        def rise() -> None:
            i = b.load(place, typ=I32)
            self._swap(code, warp, i, b.add(i, i32(1)))
            b.store(b.add(i, i32(1)), place)

        code.loop(lower, rise)
        with b.if_else(code.nonzero(fresh)) as (goes_on, over):
            with goes_on:
                code.store(b.or_(before, mask), Warp, warp, "yielded")
            with over:
                code.store(0, Warp, warp, "yielded")
                first = b.icmp_signed("==", b.load(place, typ=I32), last)
                with code.when(b.and_(first, b.icmp_signed(">", last, i32(0)))):
                    self._swap(code, warp, last, b.sub(last, i32(1)))
        b.ret_void()
        return made

    def _swap(self, code: Code, warp: ir.Value, one: ir.Value, other: ir.Value) -> None:
        for name in ("ready_pc", "ready_mask"):
            first, second = (code.load(Warp, warp, name, slot) for slot in (one, other))
            code.store(second, Warp, warp, name, one)
            code.store(first, Warp, warp, name, other)
