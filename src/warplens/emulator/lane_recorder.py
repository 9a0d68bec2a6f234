"""Generated code that writes down which lane reaches which address, for pictures of single warps: steps.py reads it.

Basic blocks are noted as in entries.py, accesses too, but with their bytes for the number of sectors; behind that stand
the lanes, then 32 words with the lower and 32 with the upper halves of the lanes' addresses (offsets in shared memory
and in a thread's own).
"""

from __future__ import annotations

from warplens.emulator import entries, ir
from warplens.emulator.code import Code, i32, i64
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.recorder import SPACES, Log, Recorder
from warplens.emulator.shadow import How
from warplens.emulator.site import V32
from warplens.isa._warp import Space

ENTRY = 2 + 32 + 32  # words of an access


class LaneRecorder(Recorder):
    def table(self, code: Code, env: ir.Value, number: ir.Value, offsets: ir.Value, mask: ir.Value) -> None:
        """Tables in constant memory are left out."""

    def _access(self, space: Space, size: int, how: How) -> ir.Function:
        """(env, instruction, addresses or offsets, mask)."""
        name = f"record_lanes_{space}_{size}"
        if found := self.module.globals.get(name):
            return found
        made, code, (index, places, mask), (log, words) = self._begin(name, space)
        b = code.b
        head = i32(SPACES[space] << entries.SPACE | size << entries.SECTORS)
        b.store(b.or_(index, head), words)
        b.store(mask, code.at(words, 4))
        low: ir.Value = places
        high: ir.Value = ir.Constant(V32, None)
        if space == "global":
            low, high = (b.trunc(part, V32) for part in (places, b.lshr(places, LlvmEmitter(b).number(places, 32))))
        b.store(low, code.at(words, 8), align=4)
        b.store(high, code.at(words, 8 + 32 * 4), align=4)
        code.bump(code.field(Log, log, "used"), i64(ENTRY))
        b.ret_void()
        return made
