"""Yielded lanes: lanes that yielded at YIELD or NANOSLEEP, and their round-robin turn.

Diverged splits are on the SIMT stack (simt_stack.py); yielded lanes are kept in `yielded`, scheduled round robin from
lane `turn` (split_scheduler.py).  Until they run again they are bypassable: a BSYNC may be passed without them
(convergence_barrier_yield.py).
"""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32
from warplens.emulator.simt.lane_arrays import assign, suspended_at
from warplens.emulator.simt.simt_stack import SimtStack
from warplens.emulator.state.structs import WarpState


class YieldedLanes:
    """Yield state: owns `WarpState.yielding`."""

    def __init__(self, stack: SimtStack) -> None:
        self.stack = stack

    def yielded(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        return code.load(WarpState, warp, "yielding.yielded")

    def bypassable(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        return code.load(WarpState, warp, "yielding.bypassable")

    def turn_pending(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        return code.load(WarpState, warp, "yielding.turn_pending")

    def resumed(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        return code.load(WarpState, warp, "yielding.resumed")

    def turn(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Number of the lane whose turn it is."""
        return code.load(WarpState, warp, "yielding.turn")

    def set_turn(self, code: StructuredBuilder, warp: llvm.Value, lane: llvm.Value) -> None:
        code.store(lane, WarpState, warp, "yielding.turn")

    def set_bypassable(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        code.store(lanes, WarpState, warp, "yielding.bypassable")

    def add(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """These lanes have yielded; suspend() has set where they resume."""
        code.store(code.b.or_(self.yielded(code, warp), lanes), WarpState, warp, "yielding.yielded")

    def suspend(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value, pc: llvm.Value) -> None:
        assign(code, warp, "resume_pc", lanes, pc)

    def yielded_at(self, code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value) -> llvm.Value:
        """Yielded lanes that resume at pc."""
        return code.b.and_(self.yielded(code, warp), suspended_at(code, warp, pc))

    def several_pcs(self, code: StructuredBuilder, warp: llvm.Value) -> llvm.Value:
        """Whether lanes yielded at more than one pc."""
        pc = code.load(WarpState, warp, "resume_pc", self.turn(code, warp))
        rest = code.b.and_(self.yielded(code, warp), code.b.not_(self.yielded_at(code, warp, pc)))
        return code.nonzero(rest)

    def gather(self, code: StructuredBuilder, warp: llvm.Value, pc: llvm.Value) -> None:
        """Yielded lanes at pc join the split that has been popped there."""
        b = code.b
        lanes = self.yielded_at(code, warp, pc)
        code.store(b.or_(code.load(WarpState, warp, "exec"), lanes), WarpState, warp, "exec")
        code.store(b.and_(self.yielded(code, warp), b.not_(lanes)), WarpState, warp, "yielding.yielded")

    # The turn

    def first_from(self, code: StructuredBuilder, lane: llvm.Value, lanes: llvm.Value) -> llvm.Value:
        """The first of these lanes from `lane` on, round the warp; `lane` itself if there are none."""
        b = code.b
        above = b.and_(lanes, b.shl(i32(-1), lane))
        found = code.lowest(b.select(code.nonzero(above), above, lanes))
        return b.select(code.nonzero(lanes), found, lane)

    def pass_turn(self, code: StructuredBuilder, warp: llvm.Value, running: llvm.Value) -> None:
        """The turn goes to the next lane that neither runs now nor has exited."""
        b = code.b
        resting = b.not_(b.or_(running, code.load(WarpState, warp, "exited")))
        self.set_turn(code, warp, self.first_from(code, self.turn(code, warp), resting))

    def mark_resumed(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """The turn's lane is no longer bypassable, though it has not run yet."""
        b = code.b
        now = code.bit(self.turn(code, warp))
        self.set_bypassable(code, warp, b.and_(self.bypassable(code, warp), b.not_(now)))
        code.store(b.or_(self.resumed(code, warp), now), WarpState, warp, "yielding.resumed")

    def mark_pending(self, code: StructuredBuilder, warp: llvm.Value, waiting: llvm.Value) -> None:
        """The turn's lane is no longer bypassable; if it is one of `waiting`, its turn is pending."""
        b = code.b
        self.mark_resumed(code, warp)
        waits = b.and_(waiting, code.bit(self.turn(code, warp)))
        code.store(b.or_(self.turn_pending(code, warp), waits), WarpState, warp, "yielding.turn_pending")

    def clear_pending(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        code.store(0, WarpState, warp, "yielding.turn_pending")

    def mark_all_bypassable(self, code: StructuredBuilder, warp: llvm.Value) -> None:
        """All yielded lanes are bypassable again."""
        for name in ("turn_pending", "resumed"):
            code.store(0, WarpState, warp, f"yielding.{name}")
        self.set_bypassable(code, warp, code.b.or_(self.bypassable(code, warp), self.yielded(code, warp)))

    def taken(self, code: StructuredBuilder, warp: llvm.Value, lanes: llvm.Value) -> None:
        """These lanes run now: clears their resumed and pending marks, and passes the turn on."""
        b = code.b
        rest = b.not_(lanes)
        for name in ("bypassable", "turn_pending", "resumed"):
            field = f"yielding.{name}"
            code.store(b.and_(code.load(WarpState, warp, field), rest), WarpState, warp, field)
        with code.when(b.not_(self.stack.take_keeps_turn(code, warp))):
            self.pass_turn(code, warp, lanes)
