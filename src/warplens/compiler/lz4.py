"""LZ4 block decompression, as fatbins use it: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md"""

from __future__ import annotations

from warplens.errors import CubinError

LEAST_MATCH = 4
EXTENDED = 15  # a length of 4 bits that goes on in the bytes that follow


def decompress(data: bytes, size: int) -> bytes:
    """`size` bytes.  CubinError if the data are damaged."""
    made = bytearray()
    at = 0
    try:
        while len(made) < size:
            token = data[at]
            literals, at = _length(data, at + 1, token >> 4)
            made += data[at : at + literals]
            at += literals
            if len(made) >= size or at >= len(data):
                break
            distance = data[at] | data[at + 1] << 8
            length, at = _length(data, at + 2, token & 15)
            copy(made, distance, length + LEAST_MATCH)
    except IndexError:
        raise CubinError("the compressed code of the fatbin is damaged") from None
    if len(made) != size:
        raise CubinError("the compressed code of the fatbin is damaged")
    return bytes(made)


def _length(data: bytes, at: int, first: int) -> tuple[int, int]:
    total = first
    if first == EXTENDED:
        while True:
            part = data[at]
            at += 1
            total += part
            if part != 255:
                break
    return total, at


def copy(made: bytearray, distance: int, length: int) -> None:
    """Appends what stands so far back; it may overlap what is appended.  CubinError."""
    if not 0 < distance <= len(made):
        raise CubinError("the compressed code of the fatbin is damaged")
    start = len(made) - distance
    if distance >= length:
        made += made[start : start + length]
    else:
        part = bytes(made[start:])
        made += (part * (length // distance + 1))[:length]
