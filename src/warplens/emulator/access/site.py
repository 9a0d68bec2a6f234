"""Access site: one memory access in generated code, its records, pointers and address windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import sizeof
from dataclasses import dataclass

from warplens import llvm
from warplens.emulator.access.pattern import Pattern
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import I32, I64, LANES, PTR, undefined, vector
from warplens.emulator.state.structs import BlockState, Bounds, WarpState, WorkerEnv
from warplens.isa.dsl.warp_interface import Space

V32, V64 = vector(I32), vector(I64)
SHARE = 64  # shared memory of the blocks of a cluster begins at multiples of so many bytes
# A loop that goes through a buffer in less than 2^6 rounds takes long steps, as grid-stride loops do.  What more rounds
# need would leave the host's cache before it is used.
FEW_ROUNDS = 6
SPACES: tuple[Space, ...] = ("global", "shared", "local", "generic")


@dataclass(frozen=True)
class AddressWindows:
    """Address windows: start of shared memory and end of the stack in the kernel's addresses; blocks of a cluster."""

    shared_base: int
    stack_top: int
    cluster: int = 1


@dataclass(frozen=True)
class AccessSite:
    """Access site: a memory instruction with the records it runs with, its number, counter row and active lanes (i32).

    hits      where executions in the usual form are counted; None in a routine
    usual     the form to count there, or None
    guarded   whether there may be no active lane
    together  whether all lanes of the split are active, or none
    counted   whether the access is counted
    """

    code: StructuredBuilder
    windows: AddressWindows
    env: llvm.Value
    block: llvm.Value
    warp: llvm.Value
    index: llvm.Value
    counters: llvm.Value
    mask: llvm.Value
    tile: int = LANES
    hits: llvm.Value | None = None
    usual: Callable[[Pattern | None], Pattern | None] = lambda pattern: None
    guarded: bool = True
    together: bool = False
    counted: bool = True

    @property
    def e(self) -> LlvmEmitter:
        return LlvmEmitter(self.b, self.tile)

    @property
    def b(self) -> llvm.IRBuilder:
        return self.code.b

    def add(self, column: int, by: llvm.Value) -> None:
        """Adds to a counter of the instruction."""
        if self.counted:
            self.code.bump(self.code.at(self.counters, 8 * column), by)

    def common(self) -> list[llvm.Value]:
        """The leading arguments of every access routine."""
        return [self.env, self.block, self.warp, self.index, self.counters]

    def hit(self, by: llvm.Value | int = 1) -> None:
        """Counts executions in the usual form."""
        assert self.hits is not None
        if self.counted:
            self.code.bump(self.hits, by)

    # Bounds

    def bounds(self) -> tuple[llvm.Value, llvm.Value]:
        """(low, span) of the buffer that this instruction used last: addresses below low + span are good."""
        place = self.bounds_entry()
        return self.code.load(Bounds, place, "low"), self.code.load(Bounds, place, "span")

    def bounds_entry(self) -> llvm.Value:
        row = self.b.mul(self.b.sext(self.index, I64), i64(sizeof(Bounds)))
        return self.code.at(self.code.load(WorkerEnv, self.env, "bounds"), row)

    def space_bytes(self, space: Space) -> llvm.Value:
        """Bytes of the block's, or all the cluster's, shared, or the thread's local, memory."""
        if space == "shared" and self.windows.cluster > 1:
            return self.b.mul(self._share(), i64(self.windows.cluster))
        return self.code.load(WorkerEnv, self.env, "shared_bytes" if space == "shared" else "local_bytes")

    def _share(self) -> llvm.Value:
        """Bytes from the shared memory of one block of a cluster to that of the next (cluster_memory.py)."""
        own = self.code.load(WorkerEnv, self.env, "shared_bytes")
        return self.b.and_(self.b.add(own, i64(SHARE - 1)), i64(-SHARE))

    def _in_cluster(self, offset: llvm.Value) -> llvm.Value:
        """Bits 24 and up of a shared address are the rank of the block that has it."""
        b, e = self.b, LlvmEmitter(self.b)
        rank, within = b.lshr(offset, e.number(offset, 24)), b.and_(offset, e.number(offset, 0xFF_FFFF))
        own, share = (b.trunc(v, I32) for v in (self.code.load(WorkerEnv, self.env, "shared_bytes"), self._share()))
        own, share = (e.splat(v) if offset.type == V32 else v for v in (own, share))
        there = b.and_(
            b.icmp_unsigned("<", rank, e.number(offset, self.windows.cluster)), b.icmp_unsigned("<", within, own)
        )
        return b.select(there, b.add(b.mul(rank, share), within), e.number(offset, 0x7FFF_0000))

    def offset(self, space: Space, address: llvm.Value) -> llvm.Value:
        """Byte offset of a shared or local address in that memory; beyond its end for out-of-bounds addresses."""
        b = self.b
        if space == "shared":
            offset = b.sub(address, LlvmEmitter(b).number(address, self.windows.shared_base))
            return self._in_cluster(offset) if self.windows.cluster > 1 else offset
        bottom = b.sub(i32(self.windows.stack_top), b.trunc(self.space_bytes("local"), I32))
        return b.sub(address, LlvmEmitter(b).splat(bottom) if address.type == V32 else bottom)

    def inside(self, space: Space, address: llvm.Value, size: int, reach: int = 0) -> llvm.Value:
        """Whether `size` bytes at one address, and at the address `reach` further, are in bounds."""
        b = self.b
        if space == "global":
            low, span = self.bounds()
            offset = b.sub(address, low)
            here = b.icmp_unsigned("<", offset, span)
            return here if not reach else b.and_(here, b.icmp_unsigned("<", b.add(offset, i64(reach)), span))
        offset = b.zext(self.offset(space, address), I64)
        fits = b.icmp_signed("<=", b.add(offset, i64(reach + size)), self.space_bytes(space))
        if space == "shared" and self.windows.cluster > 1 and reach:
            end = b.zext(self.offset(space, b.add(address, i32(reach))), I64)
            return b.and_(fits, b.icmp_signed("==", end, b.add(offset, i64(reach))))
        return fits

    # Host pointers

    def pointer(self, space: Space, address: llvm.Value) -> llvm.Value:
        """Of one global or shared address, or of the row of 32 words at a local one."""
        b, code = self.b, self.code
        if space == "global":
            return b.inttoptr(b.add(address, code.load(Bounds, self.bounds_entry(), "delta")), PTR)
        offset = b.zext(self.offset(space, address), I64)
        if space == "shared":
            return code.at(self._shared_memory(), offset)
        return code.at(self.local_memory(), b.shl(offset, i64(5)))

    def _shared_memory(self) -> llvm.Value:
        return self.code.load(BlockState, self.block, "shared" if self.windows.cluster == 1 else "window")

    def pointers(self, space: Space, address: llvm.Value, deltas: llvm.Value | None = None) -> llvm.Value:
        """Of 32 addresses.  deltas: of each, where they may be in several buffers of global memory."""
        b = self.b
        emitter = LlvmEmitter(b)
        if space == "global":
            if deltas is None:
                deltas = emitter.splat(self.code.load(Bounds, self.bounds_entry(), "delta"))
            return b.inttoptr(b.add(address, deltas), vector(PTR))
        offset = self.offset(space, address)
        if space == "shared":
            base = b.ptrtoint(self._shared_memory(), I64)
            return b.inttoptr(b.add(emitter.splat(base), b.zext(offset, V64)), vector(PTR))
        base = b.ptrtoint(self.local_memory(), I64)
        slot = b.shl(b.zext(self.local_slot(offset), V64), emitter.number(b.zext(offset, V64), 2))
        within = b.zext(b.and_(offset, emitter.number(offset, 3)), V64)
        return b.inttoptr(b.add(emitter.splat(base), b.add(slot, within)), vector(PTR))

    def local_memory(self) -> llvm.Value:
        """The warp's: word w of lane l at (32 w + l) * 4, as the hardware interleaves it."""
        b, code = self.b, self.code
        size = b.shl(self.space_bytes("local"), i64(5))
        return code.at(
            code.load(BlockState, self.block, "local"),
            b.mul(size, b.zext(code.load(WarpState, self.warp, "index"), I64)),
        )

    def local_slot(self, offset: llvm.Value) -> llvm.Value:
        """Each lane's word number in the layout of local memory."""
        b = self.b
        word = b.lshr(offset, LlvmEmitter(b).number(offset, 2))
        return b.add(b.shl(word, LlvmEmitter(b).number(word, 5)), iota(1, I32))


def iota(step: int, kind: llvm.Type) -> llvm.IRConstant:
    """step * lane."""
    return llvm.IRConstant(vector(kind), [step * lane for lane in range(LANES)])


def is_short(code: StructuredBuilder, entry: llvm.Value, step: llvm.Value) -> llvm.Value:
    """Whether this is no long step in the buffer that an instruction used last."""
    b = code.b
    far = b.lshr(code.load(Bounds, entry, "whole"), i64(FEW_ROUNDS))
    return b.icmp_unsigned("<", b.add(step, far), b.shl(far, i64(1)))


def further(b: llvm.IRBuilder, pointers: llvm.Value, space: Space, word: int) -> llvm.Value:
    """Pointers to a word of each lane's access."""
    if word == 0:
        return pointers
    return b.gep(pointers, [i64(word * (128 if space == "local" else 4))], source_etype=llvm.IntType(8))


def deinterleaved(b: llvm.IRBuilder, whole: llvm.Value, lanes: int) -> list[llvm.Value]:
    """Words of consecutive lanes, one vector for each word of a lane."""
    words = whole.type.count // lanes
    if words == 1:
        return [whole]
    nothing = undefined(whole.type)
    kind = llvm.VectorType(I32, lanes)
    return [
        b.shuffle_vector(whole, nothing, llvm.IRConstant(kind, [lane * words + k for lane in range(lanes)]))
        for k in range(words)
    ]


def interleaved(b: llvm.IRBuilder, words: Sequence[llvm.Value]) -> llvm.Value:
    """Words of 32 lanes in memory order: lane after lane."""
    n, parts = len(words), list(words)
    if n == 1:
        return parts[0]
    while len(parts) > 1:
        parts = [_joined(b, x, y) for x, y in zip(parts[::2], parts[1::2], strict=True)]
    order = [k * LANES + lane for lane in range(LANES) for k in range(n)]
    kind = llvm.VectorType(I32, n * LANES)
    return b.shuffle_vector(parts[0], undefined(parts[0].type), llvm.IRConstant(kind, order))


def _joined(b: llvm.IRBuilder, x: llvm.Value, y: llvm.Value) -> llvm.Value:
    n = x.type.count * 2
    return b.shuffle_vector(x, y, llvm.IRConstant(llvm.VectorType(I32, n), list(range(n))))
