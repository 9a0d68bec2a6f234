"""Texture operations: lowers fetches by texture object, and accesses of surfaces.

A fetch reads its texels itself; its sectors are those of the first texel of each lane.  Of a surface only the addresses
are worked out: it is accessed as global memory, checked and counted like it.
"""

from __future__ import annotations

from collections.abc import Sequence

from warplens import llvm
from warplens.core.texture_descriptor import FIELDS, Field
from warplens.emulator.access.atomic_access import atomic_routine
from warplens.emulator.access.site import V32, V64, AccessSite
from warplens.emulator.access.texture_routines import fetch_routine, surface_routine
from warplens.emulator.codegen.structured_builder import i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, I64, vector
from warplens.emulator.instrument.race_state import How
from warplens.emulator.lowering.memory_ops import MemoryOps
from warplens.emulator.state.counter_layout import REQUESTS, SECTORS, TAGS
from warplens.emulator.state.structs import FaultKind, WorkerEnv
from warplens.isa.dsl.lanes import U32
from warplens.isa.dsl.operation_records import SurfaceAccess, TextureFetch
from warplens.isa.dsl.warp_interface import AtomicOperation, Data

TEXEL = 4  # bytes that a recording takes a texel for
QUAD, OCTET = 4, 8  # lanes of a request; eight where one whole coordinate is given


class TextureOps(MemoryOps):
    """Texture operations of the active lanes."""

    def fetch(self, texture: U32, fetch: TextureFetch, given: Data, level: Data) -> Data:
        routine = fetch_routine(self.f.t.module, fetch, len(level.words))
        words = self._values(routine, 7, texture, [*given.words, *level.words])
        self._fault_if(words[6], FaultKind.NO_TEXTURE)
        first = self._joined(words[4], words[5])
        self._count(first, OCTET if fetch.operation == "load" and fetch.coordinates + fetch.layered == 1 else QUAD)
        self.f.t.watch.access(self._site(), "global", first, TEXEL, "load")
        return Data([self.c.u32(word) for word in words[:4]])

    def _values(self, routine: llvm.Function, count: int, handle: U32, words: Sequence[U32]) -> list[llvm.Value]:
        """The members of the routine's result."""
        given = [self.e.splat(word.node) for word in (handle, *words)]
        made = self.b.call(routine, [self.f.env, self.c.active_mask, *given])
        return [self.b.extract_value(made, k) for k in range(count)]

    def _fault_if(self, lanes: llvm.Value, kind: FaultKind) -> None:
        wrong = self.b.and_(self.b.extract_element(lanes, i32(0)), self.c.active_mask)
        self.f.fault_if(wrong, kind, self.at)

    def _joined(self, low: llvm.Value, high: llvm.Value) -> llvm.Value:
        shifted = self.b.shl(self.b.zext(high, V64), self.e.splat(i64(32)))
        return self.b.or_(self.b.zext(low, V64), shifted)

    def _count(self, first: llvm.Value, lanes: int) -> None:
        """A request for each quad or octet with an active lane, one for none (measured); sectors of first texels."""
        site, b = self._site(), self.b
        active, shift, firsts = site.mask, 1, 0
        while shift < lanes:
            active, shift = b.or_(active, b.lshr(active, i32(shift))), 2 * shift
        for lane in range(0, 32, lanes):
            firsts |= 1 << lane
        groups = self.code.popcount(b.and_(active, i32(firsts)))
        site.add(REQUESTS, b.zext(b.select(b.icmp_signed(">", groups, i32(1)), groups, i32(1)), I64))
        for column, shift in ((SECTORS, 5), (TAGS, 7)):
            places = b.trunc(b.lshr(first, self.e.splat(i64(shift))), V32)
            different = b.call(self.f.t.routines.count.distinct, [places, site.mask])
            site.add(column, b.zext(different, I64))

    def texture_size(self, texture: U32, level: U32) -> Data:
        """Of lanes that have the same texture; 0 where it is none.  Layers count as depth, a depth of 1 as none."""
        b, code = self.b, self.code
        handle = b.zext(b.extract_element(self.e.splat(texture.node), self.c.first_lane()), I64)
        fields = [code.variable(I32, i32(0)) for _ in range(4)]
        with code.when(b.icmp_unsigned("<", handle, code.load(WorkerEnv, self.f.env, "texture_count"))):
            row = code.at(code.load(WorkerEnv, self.f.env, "textures"), b.mul(handle, i64(8 * FIELDS)))
            for place, field in zip(fields, (Field.WIDTH, Field.HEIGHT, Field.DEPTH, Field.LEVELS), strict=True):
                b.store(b.trunc(b.load(code.at(row, 8 * field), typ=I64), I32), place)
            layers = b.trunc(b.load(code.at(row, 8 * Field.LAYERS), typ=I64), I32)
            depth = b.mul(b.load(fields[2], typ=I32), layers)
            b.store(b.select(b.icmp_signed(">", depth, i32(1)), depth, i32(0)), fields[2])
        return Data([self.c.u32(self.e.splat(b.load(place, typ=I32))) for place in fields])

    # Surfaces

    def _located(self, surface: U32, access: SurfaceAccess, at: Data) -> tuple[llvm.Value, AccessSite]:
        """The addresses, and the site with the lanes that access the surface."""
        words = self._values(surface_routine(self.f.t.module, access), 5, surface, at.words)
        self._fault_if(words[3], FaultKind.NO_TEXTURE)
        self._fault_if(words[4], FaultKind.OFF_SURFACE)
        there = self.b.bitcast(self.b.icmp_signed("!=", words[2], self.e.splat(i32(0))), I32)
        return self._joined(words[0], words[1]), self._site(self.b.and_(there, self.c.active_mask))

    def _watch(self, site: AccessSite, address: llvm.Value, bytes: int, how: How) -> bool:
        self.f.t.watch.access(site, "global", address, bytes, how)
        return self.f.t.watch.moves("global")

    def load_surface(self, surface: U32, access: SurfaceAccess, at: Data) -> Data:
        address, site = self._located(surface, access, at)
        count = max(access.bytes // 4, 1)
        if not self._watch(site, address, access.bytes, "load"):
            return Data([self._nothing()] * count)
        routine = self.f.t.routines.gather("global", access.bytes, False)
        read = self._call_access(routine, site, address, [])
        words = [read] if count == 1 else [self.b.extract_value(read, k) for k in range(count)]
        lanes, zero = self.b.bitcast(site.mask, vector(I1)), llvm.IRConstant(V32, None)
        return Data([self.c.u32(self.b.select(lanes, word, zero)) for word in words])

    def store_surface(self, surface: U32, access: SurfaceAccess, at: Data, data: Data) -> None:
        address, site = self._located(surface, access, at)
        if self._watch(site, address, access.bytes, "store"):
            self._call_access(self.f.t.routines.scatter("global", access.bytes), site, address, data.words)

    def reduce_surface(
        self, surface: U32, access: SurfaceAccess, at: Data, value: Data, operation: AtomicOperation
    ) -> None:
        address, site = self._located(surface, access, at)
        if self._watch(site, address, access.bytes, "atomic"):
            routine = atomic_routine(self.f.t.routines, "global", operation, compares=False)
            self._call_access(routine, site, address, value.words)
