"""Zstandard decompression, as fatbins use it: RFC 8878.  Without dictionaries, and without a check of checksums.

In Python it makes about a megabyte a second; the code of a program's kernels is mostly less.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warplens.compiler.lz4 import copy
from warplens.errors import CubinError

MAGIC = b"\x28\xb5\x2f\xfd"
MOST_WEIGHTS = 255  # that are described; the last follows from them
LARGEST_BLOCK = 1 << 17
LITERAL_LENGTHS = (
    [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1],
    6,
)  # fmt: skip
MATCH_LENGTHS = ([1, 4, 3, 2, 2, 2, 2, 2, 2, *[1] * 37, *[-1] * 7], 6)
OFFSETS = ([1, 1, 1, 1, 1, 1, 2, 2, 2, *[1] * 15, *[-1] * 5], 5)
"""Predefined probabilities, and the logarithm of their sum (RFC 8878, 3.1.1.3.2.2)."""
# Least value and extra bits of each code of a length (3.1.1.3.2.1.1)
LITERAL_CODES = [(n, 0) for n in range(16)] + [
    (16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6),
    *((1 << n, n) for n in range(7, 17)),
]  # fmt: skip
MATCH_CODES = [(n + 3, 0) for n in range(32)] + [
    (35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5),
    *((3 + (1 << n), n) for n in range(7, 17)),
]  # fmt: skip
Table = tuple[list[int], list[int], list[int]]
"""By state: symbol, bits to read, and what is added to them for the next state."""


def decompress(data: bytes) -> bytes:
    """The content of one frame.  CubinError if the data are damaged."""
    try:
        return _frame(data)
    except (IndexError, ValueError, ZeroDivisionError):
        raise CubinError("the compressed code of the fatbin is damaged") from None


def _frame(data: bytes) -> bytes:
    if not data.startswith(MAGIC):
        raise ValueError
    described = data[4]
    single, size_bytes = described >> 5 & 1, (0, 2, 4, 8)[described >> 6]
    at = 5 + (0 if single else 1) + (0, 1, 2, 4)[described & 3] + (size_bytes or single)
    made, state = bytearray(), FrameState()
    while True:
        head = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = head & 1, head >> 1 & 3, head >> 3
        at += 3
        if at + (1 if kind == 1 else size) > len(data):
            raise ValueError
        match kind:
            case 0:
                made += data[at : at + size]
            case 1:
                made += data[at : at + 1] * size
                size = 1
            case 2:
                _block(data[at : at + size], state, made)
            case _:
                raise ValueError
        at += size
        if last:
            return bytes(made)


@dataclass
class FrameState:
    """Frame state: what a block may take over from the one before."""

    huffman: tuple[list[int], list[int], int] | None = None
    tables: list[Table | None] = field(default_factory=lambda: [None, None, None])
    offsets: list[int] = field(default_factory=lambda: [1, 4, 8])


class BackwardBits:
    """Backward bits: a stream of bits that is read from its end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.left = 8 * (len(data) - 1) + data[-1].bit_length() - 1  # the highest bit marks the end
        if not data[-1]:
            raise ValueError

    def read(self, count: int) -> int:
        """The next bits, at most 32; zeros behind the last."""
        self.left -= count
        left, mask = self.left, (1 << count) - 1
        if left >= 0:
            return int.from_bytes(self.data[left >> 3 : (left >> 3) + 5], "little") >> (left & 7) & mask
        return int.from_bytes(self.data[:5], "little") << -left & mask if left > -count else 0


def _block(data: bytes, state: FrameState, made: bytearray) -> None:
    literals, at = _literals(data, state)
    count = data[at]
    at += 1
    if count > 127:
        if count == 255:
            count = int.from_bytes(data[at : at + 2], "little") + 0x7F00
            at += 2
        else:
            count = (count - 128 << 8) + data[at]
            at += 1
    if not count:
        made += literals
        return
    modes = data[at]
    at += 1
    defaults = (LITERAL_LENGTHS, OFFSETS, MATCH_LENGTHS)
    for number, (default, most) in enumerate(zip(defaults, (9, 8, 9), strict=True)):
        match modes >> 6 - 2 * number & 3:
            case 0:
                state.tables[number] = _table(*default)
            case 1:
                state.tables[number] = ([data[at]], [0], [0])
                at += 1
            case 2:
                probabilities, log, at = _probabilities(data, at, most)
                state.tables[number] = _table(probabilities, log)
    _sequences(BackwardBits(data[at:]), count, literals, state, made)


def _sequences(bits: BackwardBits, count: int, literals: bytes, state: FrameState, made: bytearray) -> None:
    tables = [table for table in state.tables if table is not None]
    (lengths, offsets, matches), recent = tables, state.offsets
    at_length, at_offset, at_match = (bits.read(len(table[0]).bit_length() - 1) for table in tables)
    used, most = 0, len(made) + LARGEST_BLOCK
    for number in range(count):
        if bits.left < 0 or len(made) > most:
            raise ValueError
        code = offsets[0][at_offset]
        offset = (1 << code) + bits.read(code)
        base, extra = MATCH_CODES[matches[0][at_match]]
        match_length = base + bits.read(extra)
        base, extra = LITERAL_CODES[lengths[0][at_length]]
        length = base + bits.read(extra)
        if offset > 3:
            distance = offset - 3
            recent[:] = [distance, recent[0], recent[1]]
        else:
            place = offset - 1 + (length == 0)
            distance = recent[place] if place < 3 else recent[0] - 1
            if place:
                recent[:] = [distance, recent[0], recent[1] if place > 1 else recent[2]]
        made += literals[used : used + length]
        used += length
        copy(made, distance, match_length)
        if number + 1 < count:
            at_length = lengths[2][at_length] + bits.read(lengths[1][at_length])
            at_match = matches[2][at_match] + bits.read(matches[1][at_match])
            at_offset = offsets[2][at_offset] + bits.read(offsets[1][at_offset])
    made += literals[used:]


def _literals(data: bytes, state: FrameState) -> tuple[bytes, int]:
    """The literals of a block, and where its sequences begin."""
    kind, form = data[0] & 3, data[0] >> 2 & 3
    if kind < 2:
        head = (1, 2, 1, 3)[form]
        size = int.from_bytes(data[:head], "little") >> (3 if head == 1 else 4)
        stored = size if kind == 0 else 1
        content = data[head : head + stored]
        return (content if kind == 0 else content * size), head + stored
    head, width = (3, 10) if form < 2 else (4, 14) if form == 2 else (5, 18)
    numbers = int.from_bytes(data[:head], "little") >> 4
    size, packed = numbers & (1 << width) - 1, numbers >> width
    at, end = head, head + packed
    if kind == 2:
        state.huffman, at = _huffman(data, at)
    if state.huffman is None:
        raise ValueError
    if form == 0:
        return _decoded(data[at:end], size, state.huffman), end
    jumps = [int.from_bytes(data[at + 2 * n : at + 2 * n + 2], "little") for n in range(3)]
    at += 6
    quarter, parts = (size + 3) // 4, []
    for number in range(4):
        length = jumps[number] if number < 3 else end - at
        parts.append(_decoded(data[at : at + length], quarter if number < 3 else size - 3 * quarter, state.huffman))
        at += length
    return b"".join(parts), end


def _decoded(data: bytes, size: int, code: tuple[list[int], list[int], int]) -> bytes:
    symbols, widths, most = code
    left, mask, made = BackwardBits(data).left, (1 << most) - 1, bytearray(size)
    padded = b"\0\0" + data  # zeros behind the last bit
    left += 16 - most
    for place in range(size):
        state = int.from_bytes(padded[left >> 3 : (left >> 3) + 3], "little") >> (left & 7) & mask
        made[place] = symbols[state]
        left -= widths[state]
    if left != 16 - most:
        raise ValueError
    return bytes(made)


def _huffman(data: bytes, at: int) -> tuple[tuple[list[int], list[int], int], int]:
    """The code of literals: symbol and width by the next bits; and where the description ends."""
    head = data[at]
    at += 1
    if head >= 128:
        count = head - 127
        packed = data[at : at + (count + 1) // 2]
        weights = [half for byte in packed for half in (byte >> 4, byte & 15)][:count]
        at += len(packed)
    else:
        weights = _weights(data[at : at + head])
        at += head
    total = sum(1 << weight - 1 for weight in weights if weight)
    most = total.bit_length()
    weights.append(((1 << most) - total).bit_length())
    symbols: list[int] = []
    widths: list[int] = []
    for weight in range(1, most + 1):
        for symbol, own in enumerate(weights):
            if own == weight:
                symbols += [symbol] * (1 << weight - 1)
                widths += [most + 1 - weight] * (1 << weight - 1)
    return (symbols, widths, most), at


def _weights(data: bytes) -> list[int]:
    """Weights of a Huffman code, by two states that take turns."""
    probabilities, log, at = _probabilities(data, 0, 6)
    table, bits = _table(probabilities, log), BackwardBits(data[at:])
    states, weights = [bits.read(log), bits.read(log)], []
    turn = 0
    while True:
        state = states[turn]
        weights.append(table[0][state])
        if len(weights) > MOST_WEIGHTS:
            raise ValueError
        if bits.left < table[1][state]:
            weights.append(table[0][states[1 - turn]])
            return weights
        states[turn] = table[2][state] + bits.read(table[1][state])
        turn = 1 - turn


def _probabilities(data: bytes, at: int, most: int) -> tuple[list[int], int, int]:
    """Probabilities of symbols, the logarithm of their sum, and where the description ends."""
    number, place = int.from_bytes(data[at:], "little"), 4
    log = (number & 15) + 5
    if log > most:
        raise ValueError
    left, found = (1 << log) + 1, []
    while left > 1:
        width = left.bit_length()
        value = number >> place & (1 << width) - 1
        short = (1 << width) - 1 - left
        if value & (1 << width - 1) - 1 < short:
            value &= (1 << width - 1) - 1
            place += width - 1
        else:
            if value >= 1 << width - 1:
                value -= short
            place += width
        found.append(value - 1)
        left -= abs(value - 1)
        if value == 1:  # no probability: how many more follow
            while True:
                more = number >> place & 3
                place += 2
                found += [0] * more
                if more < 3:
                    break
    return found, log, at + (place + 7) // 8


def _table(probabilities: list[int], log: int) -> Table:
    """The table of a finite-state entropy code."""
    size = 1 << log
    if sum(map(abs, probabilities)) != size:
        raise ValueError
    symbols, high = [0] * size, size - 1
    for symbol, share in enumerate(probabilities):
        if share == -1:
            symbols[high] = symbol
            high -= 1
    step, at = (size >> 1) + (size >> 3) + 3, 0
    for symbol, share in enumerate(probabilities):
        for _ in range(share):
            symbols[at] = symbol
            at = at + step & size - 1
            while at > high:
                at = at + step & size - 1
    following = [max(share, 1) for share in probabilities]
    widths, bases = [0] * size, [0] * size
    for state, symbol in enumerate(symbols):
        number = following[symbol]
        following[symbol] += 1
        widths[state] = log - (number.bit_length() - 1)
        bases[state] = (number << widths[state]) - size
    return symbols, widths, bases
