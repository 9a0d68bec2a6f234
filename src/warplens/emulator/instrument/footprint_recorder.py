"""Footprint recorder: marks the words of global memory that a worker loads and stores, a bit for each.

Blocks that update an array in place may run on several threads if no thread touches what another one writes; that is
known afterwards, from these maps (footprint_map.py).  What atomics do is no part of them.
"""

from __future__ import annotations

from typing import Any

from warplens import llvm
from warplens.emulator.access.pattern import pattern_of
from warplens.emulator.access.site import V64, AccessSite, iota
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I8, I32, I64, LANES, PTR
from warplens.emulator.instrument.race_state import How
from warplens.emulator.state.structs import Footprint, WorkerEnv

WORD = 4  # bytes
WORDS_AT_A_TIME = 32  # whose bits, shifted by up to 31, fit into 64


class FootprintRecorder:
    def __init__(self, module: llvm.IRModule) -> None:
        self.module = module

    def access(self, site: AccessSite, address: Any, size: int, how: How) -> None:
        """Marks the active lanes' access."""
        if how == "atomic":
            return
        b, stores = site.b, how == "store"
        pattern = pattern_of(address, site.tile, "global", size, stores)
        if site.together and not stores and site.e.is_scalar(address):
            with site.code.when(site.code.nonzero(site.mask)):
                b.call(self._place(size, stores), [site.env, address])
        elif pattern is not None and pattern.kind == "row":
            b.call(self._row(size, stores), [site.env, pattern.first, site.mask])
        else:
            b.call(self._lanes(size, stores), [site.env, site.e.splat(address), site.mask])

    def _place(self, size: int, stores: bool) -> llvm.Function:
        """(env, address): one place."""
        made, code = self._begin("place", size, stores, [I64])
        if code is None:
            return made
        env, address = made.args
        b = code.b
        offset, span, marks = _map(code, env, address, stores)
        with code.when(b.icmp_unsigned("<", offset, span)):
            word = b.lshr(offset, i64(2))
            place = code.at(marks, b.lshr(word, i64(3)))
            shift = b.trunc(b.and_(word, i64(7)), I8)
            bits = b.shl(llvm.IRConstant(I8, (1 << max(size // WORD, 1)) - 1), shift)
            b.store(b.or_(b.load(place, typ=I8), bits), place)
        b.ret_void()
        return made

    def _row(self, size: int, stores: bool) -> llvm.Function:
        """(env, first address, mask): lanes on consecutive places."""
        made, code = self._begin("row", size, stores, [I64, I32])
        if code is None:
            return made
        env, first, mask = made.args
        b = code.b
        offset, span, marks = _map(code, env, first, stores)
        last = b.add(offset, i64(LANES * size - 1))
        inside = b.and_(b.icmp_unsigned("<", offset, span), b.icmp_unsigned("<", last, span))
        whole = b.icmp_signed("==", b.and_(offset, i64(WORD - 1)), i64(0))
        full = b.icmp_signed("==", mask, i32(-1))
        with code.when(b.and_(full, b.and_(inside, whole)), likely=True):
            word = b.lshr(offset, i64(2))
            shift = b.and_(word, i64(WORDS_AT_A_TIME - 1))
            place = code.at(marks, b.shl(b.lshr(word, i64(5)), i64(2)))
            words = LANES * size // WORD
            for begin in range(0, words, WORDS_AT_A_TIME):
                some = min(words - begin, WORDS_AT_A_TIME)
                _mark(code, code.at(place, begin // 8), b.shl(i64((1 << some) - 1), shift))
            b.ret_void()
        self._each(code, env, b.add(LlvmEmitter(b).splat(first), iota(size, I64)), mask, size, stores)
        b.ret_void()
        return made

    def _lanes(self, size: int, stores: bool) -> llvm.Function:
        """(env, addresses, mask): lanes anywhere."""
        made, code = self._begin("lanes", size, stores, [V64, I32])
        if code is None:
            return made
        env, addresses, mask = made.args
        b, first = code.b, code.b.extract_element(addresses, i32(0))
        expected = b.add(LlvmEmitter(b).splat(first), iota(size, I64))
        row = b.bitcast(b.icmp_signed("==", addresses, expected), I32)
        with code.when(b.icmp_signed("==", b.and_(row, mask), i32(-1)), likely=True):
            b.call(self._row(size, stores), [env, first, mask])
            b.ret_void()
        self._each(code, env, addresses, mask, size, stores)
        b.ret_void()
        return made

    def _each(
        self, code: StructuredBuilder, env: llvm.Value, addresses: llvm.Value, mask: llvm.Value, size: int, stores: bool
    ) -> None:  # fmt: skip
        """Marks lane by lane, those in the map."""
        b = code.b
        footprint = code.load(WorkerEnv, env, "footprint")
        low, span = (LlvmEmitter(b).splat(code.load(Footprint, footprint, name)) for name in ("low", "span"))
        inside = b.bitcast(b.icmp_unsigned("<", b.sub(addresses, low), span), I32)
        place = self._place(size, stores)

        def lane_of(lane: llvm.Value) -> None:
            b.call(place, [env, b.extract_element(addresses, lane)])

        code.each_bit(b.and_(inside, mask), lane_of)

    def _begin(
        self, what: str, size: int, stores: bool, arguments: list[llvm.Type]
    ) -> tuple[llvm.Function, StructuredBuilder | None]:
        """The routine of the module, and its builder if it has no code yet."""
        name = f"footprint_{what}_{'stored' if stores else 'loaded'}_{size}"
        if found := self.module.globals.get(name):
            return found, None
        return function(self.module, name, llvm.VoidType(), [PTR, *arguments])


def _map(
    code: StructuredBuilder, env: llvm.Value, address: llvm.Value, stores: bool
) -> tuple[llvm.Value, llvm.Value, llvm.Value]:
    """Offset of an address in what the map shows, the bytes that it shows, and its bits."""
    footprint = code.load(WorkerEnv, env, "footprint")
    offset = code.b.sub(address, code.load(Footprint, footprint, "low"))
    span = code.load(Footprint, footprint, "span")
    return offset, span, code.load(Footprint, footprint, "written" if stores else "read")


def _mark(code: StructuredBuilder, place: llvm.Value, bits: llvm.Value) -> None:
    code.b.store(code.b.or_(code.b.load(place, typ=I64, align=4), bits), place, align=4)
