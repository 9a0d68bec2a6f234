"""Copy-on-write backup of host arrays: saves each 16 KB chunk just before the kernel first writes it.

The chunk is about to enter the host's caches anyway, and the copy bypasses them: of the 20 ms that it took to copy
256 MiB in advance, additions of 2^26 floats lose 12.  Of a chunk that repeats one word, as result arrays mostly do
before the launch, only the word is kept.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, function, i32, i64
from warplens.emulator.codegen.vector_types import I8, I32, I64, LANES, PTR
from warplens.emulator.memory.buffer_pool import BUFFER_POOL, address, aligned
from warplens.emulator.state.structs import BufferRange
from warplens.system.memory_advice import in_small_pages

CHUNK_SHIFT = 14  # log2 of the bytes of a chunk: what 128 interleaved warps write in a round
CHUNK_BYTES = 1 << CHUNK_SHIFT
ROW = 4 * LANES  # bytes that machine code copies at a time
ROWS = llvm.VectorType(I32, LANES)
BEGUN, DONE, EVEN = 1, 2, 4  # EVEN: the chunk repeats one word
Bytes = NDArray[np.uint8]
Pairs = list[tuple[Bytes, Bytes]]


class CopyOnWrite:
    """Copy-on-write backup of `array`: old content of chunks that are `done`, in `before`, or as a word in `even`.

    patience   how often an instruction may hit a saved chunk before all others are saved at once: its accesses jump
               about, and the look-ups take longer than the copy
    few        only a few blocks run, anywhere: saving what they write must not page in the rest
    """

    def __init__(self, array: Bytes, few: bool = False) -> None:
        self.array, self.few = array, few
        self.before = aligned(array.size) if few else BUFFER_POOL.take(array.size)
        if few:
            in_small_pages(address(self.before), array.size)
        self.done = np.zeros(-(-array.size // CHUNK_BYTES), np.uint8)
        self.even = np.zeros(self.done.size, np.uint32)
        self.patience = array.size if few else 64 + self.done.size // 8
        rest = array.size % ROW
        self.before[array.size - rest :] = array[array.size - rest :]

    def restore_copies(self) -> Pairs:
        """(to, from) copies that restore the array, but for chunks of one repeated word, which are restored here."""
        self._restore_repeated(self.array)
        return [(self.array[part], self.before[part]) for part in self._parts(BEGUN | DONE)]

    def remaining_copies(self) -> Pairs:
        """(to, from) copies that complete `before`, likewise."""
        self._restore_repeated(self.before)
        return [(self.before[part], self.array[part]) for part in self._parts(0)]

    def _restore_repeated(self, to: Bytes) -> None:
        for n in np.flatnonzero(self.done == BEGUN | DONE | EVEN):
            to[n * CHUNK_BYTES : (n + 1) * CHUNK_BYTES].view(np.uint32)[:] = self.even[n]

    def _parts(self, state: int) -> list[slice]:
        edges = np.flatnonzero(np.diff(self.done == state, prepend=False, append=False)) * CHUNK_BYTES
        return [slice(first, end) for first, end in edges.reshape(-1, 2).tolist()]


def save_chunk(module: llvm.IRModule) -> llvm.Function:
    """save_chunk(buffer, chunk number): saves the chunk, or all chunks, and marks the buffer so."""
    if found := module.globals.get("save_chunk"):
        return found
    made, code = function(module, "save_chunk", llvm.VoidType(), [PTR, I64])
    entry, number = made.args
    b, done = code.b, code.load(BufferRange, made.args[0], "saved_chunks")
    with code.when(b.not_(_is_done(code, done, number))):
        b.call(_one(module), [entry, number])
        b.ret_void()
    left = b.sub(code.load(BufferRange, entry, "patience"), i64(1))
    code.store(left, BufferRange, entry, "patience")
    with code.when(b.icmp_signed("<", left, i64(0))):
        size = b.sub(code.load(BufferRange, entry, "high"), code.load(BufferRange, entry, "low"))
        count = b.lshr(b.add(size, i64(CHUNK_BYTES - 1)), i64(CHUNK_SHIFT))
        code.each(count, lambda n: b.call(_one(module), [entry, n]))
        code.store(i64(0), BufferRange, entry, "in_chunks")
    b.ret_void()
    return made


def _is_done(code: StructuredBuilder, done: llvm.Value, number: llvm.Value) -> llvm.Value:
    state = code.b.load_atomic(code.at(done, number), "acquire", 1, I8)
    return code.nonzero(code.b.and_(state, llvm.IRConstant(I8, DONE)))


def _one(module: llvm.IRModule) -> llvm.Function:
    """(buffer, chunk number): saves the chunk once; thread-safe."""
    if found := module.globals.get("save_one_chunk"):
        return found
    made, code = function(module, "save_one_chunk", llvm.VoidType(), [PTR, I64])
    entry, number = made.args
    b, done = code.b, code.load(BufferRange, made.args[0], "saved_chunks")
    place = code.at(done, number)
    before = b.atomic_rmw("or", place, llvm.IRConstant(I8, BEGUN), "seq_cst")
    with code.when(b.icmp_unsigned("==", before, llvm.IRConstant(I8, 0))):
        low, high = code.load(BufferRange, entry, "low"), code.load(BufferRange, entry, "high")
        first = b.shl(number, i64(CHUNK_SHIFT))
        left = b.sub(b.sub(high, low), first)
        size = b.select(b.icmp_unsigned("<", left, i64(CHUNK_BYTES)), left, i64(CHUNK_BYTES))
        source = b.inttoptr(b.add(b.add(low, first), code.load(BufferRange, entry, "delta")), PTR)
        target = code.at(code.load(BufferRange, entry, "backup"), first)

        rows = b.udiv(size, i64(ROW))
        state = code.variable(I8, llvm.IRConstant(I8, DONE))
        with code.when(b.icmp_unsigned("==", size, i64(CHUNK_BYTES))):
            word = b.load(source, typ=I32)
            even = b.icmp_unsigned("==", _rows_of(code, source, rows, word), rows)
            code.b.store(b.select(even, llvm.IRConstant(I8, DONE | EVEN), llvm.IRConstant(I8, DONE)), state)
            b.store(word, code.at(code.load(BufferRange, entry, "repeated_words"), b.shl(number, i64(2))))

        def row(n: llvm.Value) -> None:
            at = b.mul(n, i64(ROW))
            b.store(_row(code, source, n), code.at(target, at), align=64, passing=True)

        ended = b.load(state, typ=I8)
        with code.when(b.icmp_unsigned("==", ended, llvm.IRConstant(I8, DONE))):
            code.each(rows, row)
        b.atomic_rmw("or", place, ended, "seq_cst")
    code.loop(lambda: b.not_(_is_done(code, done, number)), lambda: None)
    b.ret_void()
    return made


def _row(code: StructuredBuilder, source: llvm.Value, number: llvm.Value) -> llvm.Value:
    return code.b.load(code.at(source, code.b.mul(number, i64(ROW))), typ=ROWS, align=16)


def _rows_of(code: StructuredBuilder, source: llvm.Value, rows: llvm.Value, word: llvm.Value) -> llvm.Value:
    """How many leading rows hold nothing but this word."""
    b, place = code.b, code.variable(I64, i64(0))
    alike = b.insert_element(llvm.IRConstant(ROWS, None), word, i32(0))
    alike = b.shuffle_vector(alike, alike, llvm.IRConstant(ROWS, None))

    def same() -> llvm.Value:
        n = b.load(place, typ=I64)
        inside = b.icmp_unsigned("<", n, rows)
        differs = b.icmp_unsigned("!=", _row(code, source, b.select(inside, n, i64(0))), alike)
        return b.and_(inside, b.icmp_unsigned("==", b.bitcast(differs, I32), i32(0)))

    code.loop(same, lambda: code.bump(place))
    return b.load(place, typ=I64)
