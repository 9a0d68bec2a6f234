"""Matrix descriptor: where the 16-byte rows of a matrix's core matrices lie in shared memory (PTX ISA, wgmma).

A core matrix is 8 rows of 16 bytes.  Without swizzle its rows follow each other; in a swizzled layout they are 32, 64
or 128 bytes apart, and bits 4 to 6 of an address are XORed with bits 7 to 9 (as many as the width has).  A matrix is
K-major if 16 bytes run along K, else transposed: they run along the rows of A or the columns of B.  Read on an H200
(measurements/README.md): the base offset is subtracted from bits 7 to 9 before they are XORed, and where K takes more
than the 32 bytes of the narrowest swizzle, the leading offset leads to the next 32.
"""

from __future__ import annotations

from collections.abc import Sequence

from warplens import llvm
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32
from warplens.emulator.codegen.vector_types import I16, I32, LANES, undefined

ROWS = 8  # of a core matrix
ROW_BYTES = 16
FIELD = 0x3FFF  # bits of an address or offset, in units of 16 bytes
WIDTHS = 16 | 128 << 8 | 64 << 16 | 32 << 24  # bytes from row to row, by the swizzle mode
MASKS = 0 | 7 << 8 | 3 << 16 | 1 << 24  # bits of an address that are XORed
ADDRESS_SPACE = (1 << 18) - 1  # addresses wrap at the end of what a descriptor can name
ROW = llvm.VectorType(I32, 4)
HALVES = llvm.VectorType(I16, 8)


class MatrixDescriptor:
    """Matrix descriptor: its fields as numbers of the generated code, and the addresses of rows."""

    def __init__(self, code: StructuredBuilder, low: llvm.Value, high: llvm.Value, transposed: bool) -> None:
        self.code, self.b, self.transposed = code, code.b, transposed
        b = self.b
        self.high = high
        mode = b.shl(b.lshr(high, i32(30)), i32(3))
        self.start = self._bytes(low)
        leading, stride = self._bytes(b.lshr(low, i32(16))), self._bytes(high)
        self.width = b.and_(b.lshr(i32(WIDTHS), mode), i32(0xFF))
        self.mask = b.and_(b.lshr(i32(MASKS), mode), i32(0xFF))
        self.phase = b.and_(b.lshr(high, i32(17)), i32(7))
        plain = b.icmp_signed("==", mode, i32(0))
        if transposed:
            self.next_group, self.next_chunk = b.select(plain, stride, leading), b.select(plain, leading, stride)
            self.next_pair = b.shl(self.next_chunk, i32(1))
        else:
            self.next_group, self.next_chunk = stride, b.select(plain, leading, i32(ROW_BYTES))
            narrow = b.icmp_signed("==", self.width, i32(2 * ROW_BYTES))
            self.next_pair = b.select(narrow, leading, b.shl(self.next_chunk, i32(1)))

    @property
    def swizzle(self) -> llvm.Value:
        """0 to 3, as in a tensor map: none, 32, 64, 128 bytes."""
        return self.b.and_(self.b.sub(i32(4), self.b.lshr(self.high, i32(30))), i32(3))

    def _bytes(self, word: llvm.Value) -> llvm.Value:
        return self.b.shl(self.b.and_(word, i32(FIELD)), i32(4))

    def rows(self, group: llvm.Value, chunk: int) -> list[llvm.Value]:
        """The addresses of a core matrix's rows; `group` counts core matrices along M or N, `chunk` along K."""
        b = self.b
        along = b.mul(group, self.next_group)
        if self.transposed:  # `width` bytes hold several groups
            groups = b.lshr(self.width, i32(4))
            within = b.and_(group, b.sub(groups, i32(1)))
            outer = b.lshr(group, self.code.lowest(groups))
            along = b.add(b.mul(outer, self.next_group), b.shl(within, i32(4)))
        pair, odd = divmod(chunk, 2)
        across = b.add(b.mul(self.next_pair, i32(pair)), b.mul(self.next_chunk, i32(odd)))
        first = b.add(self.start, b.add(along, across))
        return [self._swizzled(b.add(first, b.mul(self.width, i32(row)))) for row in range(ROWS)]

    def _swizzled(self, address: llvm.Value) -> llvm.Value:
        b = self.b
        bits = b.and_(b.sub(b.lshr(address, i32(7)), self.phase), self.mask)
        return b.and_(b.xor(address, b.shl(bits, i32(4))), i32(ADDRESS_SPACE))


def fragment(b: llvm.IRBuilder, rows: Sequence[llvm.Value], transposed: bool) -> llvm.Value:
    """The 8 rows at these host pointers as words of lanes: lane 4 g + s has word s of row g, or if `transposed` column
    g's elements 2 s and 2 s + 1."""
    if not transposed:
        return _joined(b, [b.load(row, typ=ROW, align=4) for row in rows])
    halves = _joined(b, [b.load(row, typ=HALVES, align=4) for row in rows])
    order = [(2 * s + k) * ROWS + g for g in range(ROWS) for s in range(4) for k in range(2)]
    turned = b.shuffle_vector(halves, undefined(halves.type), _order(order))
    return b.bitcast(turned, llvm.VectorType(I32, LANES))


def _joined(b: llvm.IRBuilder, parts: list[llvm.Value]) -> llvm.Value:
    while len(parts) > 1:
        order = _order(list(range(2 * parts[0].type.count)))
        parts = [b.shuffle_vector(x, y, order) for x, y in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _order(places: list[int]) -> llvm.IRConstant:
    return llvm.IRConstant(llvm.VectorType(I32, len(places)), places)
