"""Lane recorder: emits the recording of every lane's addresses, for pictures of single warps (lane_trace.py).

Basic blocks and accesses are recorded as in trace_format.py, but with bytes in place of the number of sectors; then
follow the lanes, and 32 words with the lower and 32 with the upper halves of the lanes' addresses (offsets in shared
and in local memory).
"""

from __future__ import annotations

from warplens import llvm
from warplens.emulator.access.site import V32, AccessSite
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.instrument.warp_recorder import SPACES, Log, Recorded, WarpRecorder
from warplens.emulator.state import trace_format
from warplens.isa.dsl.warp_interface import Space

ENTRY = 2 + 32 + 32  # words of an access


class LaneRecorder(WarpRecorder):
    def table(
        self, code: StructuredBuilder, env: llvm.Value, number: llvm.Value, offsets: llvm.Value, mask: llvm.Value
    ) -> None:
        """Not recorded: tables in constant memory."""

    def mbarrier(self, site: AccessSite, place: llvm.Value, number: llvm.Value, blocks: llvm.Value) -> None:
        """Not recorded: accesses to mbarriers are."""

    def _access(self, space: Space, size: int, how: Recorded) -> llvm.Function:
        """(env, instruction, addresses or offsets, mask)."""
        name = f"record_lanes_{space}_{size}"
        if found := self.module.globals.get(name):
            return found
        made, code, (index, places, mask), (log, words) = self._begin(name, space)
        b = code.b
        head = i32(SPACES[space] << trace_format.SPACE | size << trace_format.SECTORS)
        b.store(b.or_(index, head), words)
        b.store(mask, code.at(words, 4))
        low: llvm.Value = places
        high: llvm.Value = llvm.IRConstant(V32, None)
        if space == "global":
            low, high = (b.trunc(part, V32) for part in (places, b.lshr(places, LlvmEmitter(b).number(places, 32))))
        b.store(low, code.at(words, 8), align=4)
        b.store(high, code.at(words, 8 + 32 * 4), align=4)
        code.bump(code.field(Log, log, "used"), i64(ENTRY))
        b.ret_void()
        return made
