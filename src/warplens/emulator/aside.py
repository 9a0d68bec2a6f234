"""What a host's array held before the kernel wrote it there: put aside stretch by stretch, each when an instruction is
about to write it for the first time.

It is on its way to the host's caches then anyway, and the copy passes them: of the 20 ms that it took to copy 256 MiB
first, additions of 2^26 floats lose 12.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplens.emulator import ir
from warplens.emulator.code import Code, function, i64
from warplens.emulator.layout import Buffer
from warplens.emulator.spare import SPARE, address, aligned
from warplens.emulator.vectors import I8, I32, I64, LANES, PTR
from warplens.resident import in_small_pages

SHIFT = 14  # of the bytes of a stretch: what 128 warps that go abreast write in a round
STRETCH = 1 << SHIFT
ROW = 4 * LANES  # bytes that machine code copies at a time
BEGUN, DONE = 1, 2
Bytes = NDArray[np.uint8]
Pairs = list[tuple[Bytes, Bytes]]


class Aside:
    """`array` as it was: in `before` where `done` says so by stretches, elsewhere still in the array.

    patience   how often an instruction may come to a stretch that is aside before the rest goes there at once: such an
               instruction jumps about, and to look up where it is takes longer than to copy
    few        only a few blocks run, anywhere: what they write must not bring the rest into memory
    """

    def __init__(self, array: Bytes, few: bool = False) -> None:
        self.array, self.few = array, few
        self.before = aligned(array.size) if few else SPARE.take(array.size)
        if few:
            in_small_pages(address(self.before), array.size)
        self.done = np.zeros(-(-array.size // STRETCH), np.uint8)
        self.patience = array.size if few else 64 + self.done.size // 8
        rest = array.size % ROW
        self.before[array.size - rest :] = array[array.size - rest :]

    def back(self) -> Pairs:
        """(to, from) that make the array what it was."""
        return [(self.array[part], self.before[part]) for part in self._parts(BEGUN | DONE)]

    def rest(self) -> Pairs:
        """(to, from) that make `before` all of what it was."""
        return [(self.before[part], self.array[part]) for part in self._parts(0)]

    def _parts(self, state: int) -> list[slice]:
        edges = np.flatnonzero(np.diff(self.done == state, prepend=False, append=False)) * STRETCH
        return [slice(first, end) for first, end in edges.reshape(-1, 2).tolist()]


def put_aside(module: ir.Module) -> ir.Function:
    """(buffer, number of a stretch): it is aside, or all are and the buffer says so."""
    if found := module.globals.get("put_aside"):
        return found
    made, code = function(module, "put_aside", ir.VoidType(), [PTR, I64])
    entry, number = made.args
    b, done = code.b, code.load(Buffer, made.args[0], "aside_done")
    with code.when(b.icmp_unsigned("!=", _state(code, done, number), ir.Constant(I8, BEGUN | DONE))):
        b.call(_one(module), [entry, number])
        b.ret_void()
    left = b.sub(code.load(Buffer, entry, "patience"), i64(1))
    code.store(left, Buffer, entry, "patience")
    with code.when(b.icmp_signed("<", left, i64(0))):
        size = b.sub(code.load(Buffer, entry, "high"), code.load(Buffer, entry, "low"))
        count = b.lshr(b.add(size, i64(STRETCH - 1)), i64(SHIFT))
        code.each(count, lambda n: b.call(_one(module), [entry, n]))
        code.store(i64(0), Buffer, entry, "in_stretches")
    b.ret_void()
    return made


def _state(code: Code, done: ir.Value, number: ir.Value) -> ir.Value:
    return code.b.load_atomic(code.at(done, number), "acquire", 1, I8)


def _one(module: ir.Module) -> ir.Function:
    """(buffer, number of a stretch): it is aside; several threads may ask for it at once."""
    if found := module.globals.get("put_one_aside"):
        return found
    made, code = function(module, "put_one_aside", ir.VoidType(), [PTR, I64])
    entry, number = made.args
    b, done = code.b, code.load(Buffer, made.args[0], "aside_done")
    place = code.at(done, number)
    before = b.atomic_rmw("or", place, ir.Constant(I8, BEGUN), "seq_cst")
    with code.when(b.icmp_unsigned("==", before, ir.Constant(I8, 0))):
        low, high = code.load(Buffer, entry, "low"), code.load(Buffer, entry, "high")
        first = b.shl(number, i64(SHIFT))
        left = b.sub(b.sub(high, low), first)
        size = b.select(b.icmp_unsigned("<", left, i64(STRETCH)), left, i64(STRETCH))
        source = b.inttoptr(b.add(b.add(low, first), code.load(Buffer, entry, "delta")), PTR)
        target = code.at(code.load(Buffer, entry, "aside"), first)

        def row(n: ir.Value) -> None:
            at = b.mul(n, i64(ROW))
            words = b.load(code.at(source, at), typ=ir.VectorType(I32, LANES), align=16)
            b.store(words, code.at(target, at), align=64, passing=True)

        code.each(b.udiv(size, i64(ROW)), row)
        b.atomic_rmw("or", place, ir.Constant(I8, DONE), "seq_cst")
    whole = ir.Constant(I8, BEGUN | DONE)
    code.loop(lambda: b.icmp_unsigned("!=", _state(code, done, number), whole), lambda: None)
    b.ret_void()
    return made
