"""Tier-up policy: runs a launch with threaded code, ready at once, or compiled code where that pays.

Both compute and count the same.  A launch that need not be counted has compiled code of its own, without counters.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from math import inf

from warplens.core.cubin import Kernel
from warplens.core.program import Program
from warplens.emulator.analysis.divergence import may_yield
from warplens.emulator.analysis.kernel_features import uses_convergence_barriers
from warplens.emulator.jit.compile_module import cached_code, compile_kernel
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.state.check_set import FOOTPRINT, UNCOUNTED, Checks
from warplens.emulator.threaded.baseline_compiler import compile_threaded

# Compiling an instruction takes 2.5 ms; meanwhile a thread executes so many warp instructions of threaded code.
BREAK_EVEN = 60_000
# Time limit of threaded code in seconds: at least, and for each instruction of the kernel.
MIN_THREADED_SECONDS, THREADED_SECONDS = 0.3, 0.003
# Beyond its time limit threaded code goes on until it has executed this part of the instructions that compiling costs.
ROUTINE_FACTOR = 4
# Launches that need not be counted run with code that counts, if there is such code, for so many seconds for each
# instruction of the kernel: twice what compiling takes, since code without counters is 1 to 2.4 times as fast.
COUNTED_SECONDS = 0.005
COMPILE_SECONDS = 0.0025  # an instruction
# Maps of 256 MB that a kernel updates in place take 8 MB a thread; to compare them, 5 ms.
MIN_MAPPED_SECONDS = 0.02


@dataclass(frozen=True)
class TierPolicy:
    """Tier-up policy of a kernel for one block shape (`tile`: affine.py)."""

    kernel: Kernel
    program: Program
    tile: int
    checks: Checks

    def initial(self) -> NativeCode:
        """Code that a launch begins with: threaded code, unless compiled code exists or would pay."""
        return self._threaded() or self.compiled()

    def compiled(self) -> NativeCode:
        if self._uncounted_pays:
            return compile_kernel(self.kernel, self.program, self.tile, self.checks)
        return self._cached() or compile_kernel(self.kernel, self.program, self.tile, self.checks)

    def _cached(self) -> NativeCode | None:
        """Compiled code that exists, in memory or on disk; also code that counts where nothing need be counted."""
        found = cached_code(self.kernel, self.program, self.tile, self.checks)
        if found is None and self.checks & UNCOUNTED:
            found = cached_code(self.kernel, self.program, self.tile, self.checks - UNCOUNTED)
        return found

    # Blocks that update memory in place (footprint_map.py)

    @property
    def may_map(self) -> bool:
        """Whether no launch of the kernel has shown that its blocks depend on each other."""
        return os.environ.get("WARPLENS_TIER") != "steps" and self._key not in _dependent

    def mapping_seconds(self, threads: int) -> float:
        """How much work of one thread must be left for several threads with maps of what they touch to pay."""
        code = replace(self, checks=self.checks | FOOTPRINT)._cached()
        compiling = 0.0 if code else COMPILE_SECONDS * len(self.program.instructions)
        return MIN_MAPPED_SECONDS + compiling * threads / (threads - 1)

    def with_footprint(self) -> NativeCode:
        return replace(self, checks=self.checks | FOOTPRINT).compiled()

    def blocks_depend(self) -> None:
        """Blocks of a launch depend on each other: they were all run again."""
        _dependent.add(self._key)

    @property
    def _uncounted_pays(self) -> bool:
        """Whether code without counters is worth compiling."""
        if os.environ.get("WARPLENS_TIER") == "whole":
            return True
        return _uncounted_seconds[self._key] > COUNTED_SECONDS * len(self.program.instructions)

    def ended(self, seconds: float) -> None:
        """A launch has taken so long."""
        if self.checks & UNCOUNTED:
            _uncounted_seconds[self._key] += seconds

    @property
    def may_cross(self) -> bool:
        """Whether a hang may be crossed lanes (waiting for each other in two places), unresolved by this code."""
        return uses_convergence_barriers(self.program) and not may_yield(self.program)

    def with_crossed_lanes(self) -> TierPolicy:
        """The same policy for code that resolves crossed lanes."""
        return replace(self, program=replace(self.program, crossed=True))

    def _threaded(self) -> NativeCode | None:
        wanted = os.environ.get("WARPLENS_TIER", "")
        if wanted == "whole":
            return None
        executed = _executed[self._key, self.checks]
        compiled = not wanted and (executed > self._break_even or self._cached() is not None)
        return None if compiled else compile_threaded(self.kernel, self.program, self.checks - UNCOUNTED)

    def tier_up(self, code: NativeCode, done: int, left: int, threads: int) -> NativeCode:
        """The code that continues a launch with `done` warp instructions executed and `left` remaining."""
        if code.places is None or os.environ.get("WARPLENS_TIER") == "steps":
            return code
        _executed[self._key, self.checks] += done + left
        return self.compiled() if left > self._break_even * threads else code

    @property
    def _key(self) -> bytes:
        return self.kernel.code

    @property
    def _break_even(self) -> int:
        return BREAK_EVEN * len(self.program.instructions)

    @property
    def seconds(self) -> float:
        """Time limit of threaded code."""
        if os.environ.get("WARPLENS_TIER") == "steps":
            return inf
        return max(MIN_THREADED_SECONDS, THREADED_SECONDS * len(self.program.instructions))

    def pays(self, executed: int) -> bool:
        """Whether threaded code ends at its time limit, with so many warp instructions executed: few that took so long
        spent it in routines that compiled code calls, too, as products of warpgroups do."""
        return executed > self._break_even // ROUTINE_FACTOR


_uncounted_seconds: defaultdict[bytes, float] = defaultdict(float)  # of launches not counted, by machine code
# Warp instructions of threaded code in this process, by machine code and checks: a recording executes few blocks.
_executed: Counter[tuple[bytes, Checks]] = Counter()
_dependent: set[bytes] = set()  # machine code of kernels whose blocks touch what others write
