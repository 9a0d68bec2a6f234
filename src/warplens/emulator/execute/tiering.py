"""Which code runs a launch: the kernel as steps, ready at once, or translated as a whole where that pays.

Both do and count the same.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, replace
from math import inf

from warplens.core.cubin import Kernel
from warplens.core.program import Program
from warplens.emulator.analysis.divergence import gives_way
from warplens.emulator.analysis.kernel_features import uses_meeting
from warplens.emulator.jit.compile_module import translate, translated_before
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.state.check_set import Checks
from warplens.emulator.threaded.baseline_compiler import stepwise

# To translate an instruction takes 2.5 ms; meanwhile a thread executes so many warp instructions as steps.
PAYS = 60_000
LEAST_SECONDS, SECONDS = 0.3, 0.003  # and an instruction: no launch stays longer with steps


class TooLongError(Exception):
    """Steps have been at it for longer than a translation takes."""


class IndexWrappedError(Exception):
    """A line of indices left 32 bits: only a translation without lines can execute that."""


class CrossedError(Exception):
    """Lanes of a warp wait for each other in two places.  An H200 lets those go that wait at a BSYNC (crossed.csv in
    measurements/h200); code that is to know that is slower."""


@dataclass(frozen=True)
class TierPolicy:
    """The two ways to run a kernel on blocks of one shape (`tile`: affine.py)."""

    kernel: Kernel
    program: Program
    tile: int
    checks: Checks

    def first(self) -> NativeCode:
        """What a launch begins with: steps, unless there is something faster."""
        return self._steps() or self.whole()

    def whole(self, tile: int | None = None) -> NativeCode:
        return translate(self.kernel, self.program, self.tile if tile is None else tile, self.checks)

    @property
    def may_cross(self) -> bool:
        """Whether lanes that hang may only seem to: they wait for each other, and are not yet let go for that."""
        return uses_meeting(self.program) and not gives_way(self.program)

    def crossed(self) -> TierPolicy:
        """The same where they are."""
        return replace(self, program=replace(self.program, crossed=True))

    def _steps(self) -> NativeCode | None:
        wanted = os.environ.get("WARPLENS_TIER", "")
        if wanted == "whole":
            return None
        known = not wanted and (
            _executed[self._name] > self._enough or translated_before(self.kernel, self.program, self.tile, self.checks)
        )
        return None if known else stepwise(self.kernel, self.program, self.checks)

    def faster(self, code: NativeCode, done: int, left: int, threads: int) -> NativeCode:
        """What goes on where `code` has executed so many warp instructions of a launch, and so many are left."""
        if code.places is None or os.environ.get("WARPLENS_TIER") == "steps":
            return code
        _executed[self._name] += done + left
        return self.whole() if left > self._enough * threads else code

    @property
    def _name(self) -> bytes:
        return self.kernel.code

    @property
    def _enough(self) -> int:
        return PAYS * len(self.program.instructions)

    @property
    def seconds(self) -> float:
        """How long steps may run."""
        if os.environ.get("WARPLENS_TIER") == "steps":
            return inf
        return max(LEAST_SECONDS, SECONDS * len(self.program.instructions))


_executed: Counter[bytes] = Counter()  # as steps, by code, in this process
