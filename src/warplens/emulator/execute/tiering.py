"""Tier-up policy: which code runs a launch, threaded code, ready at once, or compiled code where that pays.

Both compute and count the same.
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
from warplens.emulator.jit.compile_module import cached_code, compile_kernel
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.state.check_set import Checks
from warplens.emulator.threaded.baseline_compiler import compile_threaded

# To compile an instruction takes 2.5 ms; meanwhile a thread executes so many warp instructions of threaded code.
BREAK_EVEN = 60_000
# Threaded code may run for so many seconds: at least, and for each instruction of the kernel.
MIN_THREADED_SECONDS, THREADED_SECONDS = 0.3, 0.003


@dataclass(frozen=True)
class TierPolicy:
    """The two tiers for a kernel with blocks of one shape (`tile`: affine.py)."""

    kernel: Kernel
    program: Program
    tile: int
    checks: Checks

    def initial(self) -> NativeCode:
        """What a launch begins with: threaded code, unless compiled code is there or would pay."""
        return self._threaded() or self.compiled()

    def compiled(self, tile: int | None = None) -> NativeCode:
        return compile_kernel(self.kernel, self.program, self.tile if tile is None else tile, self.checks)

    @property
    def may_cross(self) -> bool:
        """Whether lanes that hang may only seem to: lanes wait for each other, which this code does not resolve."""
        return uses_meeting(self.program) and not gives_way(self.program)

    def with_crossed_lanes(self) -> TierPolicy:
        """The same for code that resolves it."""
        return replace(self, program=replace(self.program, crossed=True))

    def _threaded(self) -> NativeCode | None:
        wanted = os.environ.get("WARPLENS_TIER", "")
        if wanted == "whole":
            return None
        compiled = not wanted and (
            _executed[self._key] > self._break_even
            or cached_code(self.kernel, self.program, self.tile, self.checks) is not None
        )
        return None if compiled else compile_threaded(self.kernel, self.program, self.checks)

    def tier_up(self, code: NativeCode, done: int, left: int, threads: int) -> NativeCode:
        """The code that continues a launch of which so many warp instructions are executed, and so many are left."""
        if code.places is None or os.environ.get("WARPLENS_TIER") == "steps":
            return code
        _executed[self._key] += done + left
        return self.compiled() if left > self._break_even * threads else code

    @property
    def _key(self) -> bytes:
        return self.kernel.code

    @property
    def _break_even(self) -> int:
        return BREAK_EVEN * len(self.program.instructions)

    @property
    def seconds(self) -> float:
        """How long threaded code may run."""
        if os.environ.get("WARPLENS_TIER") == "steps":
            return inf
        return max(MIN_THREADED_SECONDS, THREADED_SECONDS * len(self.program.instructions))


_executed: Counter[bytes] = Counter()  # warp instructions of threaded code in this process, by machine code
