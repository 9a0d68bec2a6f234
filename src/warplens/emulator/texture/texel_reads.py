"""Texel reads: channels of a texel in memory, or of the border, as the words and numbers of its format."""

from __future__ import annotations

import numpy as np

from warplens.core.texture_descriptor import ChannelKind, Field
from warplens.emulator.texture.fetch_request import Texture
from warplens.emulator.texture.texel_formats import channel_word, fraction, signed
from warplens.simc import bits_float, compiled, float_bits

LOW, HIGH, TOUCHED, DELTA, RANGE_WORDS = 0, 1, 2, 3, 10  # of a BufferRange (state/structs.py)
READ = 1  # Touch.READ


@compiled
def inside(t: Texture, address: int) -> int:
    """Whether a texel lies in the texture's allocation, which has then been read."""
    number = t.table[t.row, Field.NUMBER]
    size = t.table[t.row, Field.BITS] // 8 * t.table[t.row, Field.CHANNELS]
    if address < t.buffers[number, LOW] or address + size > t.buffers[number, HIGH]:
        return 0
    t.buffers[number, TOUCHED] = t.buffers[number, TOUCHED] | READ
    return 1


@compiled
def channel(t: Texture, address: int, number: int) -> int:
    """The word of a channel in memory."""
    bits = t.table[t.row, Field.BITS]
    place = address + t.buffers[t.table[t.row, Field.NUMBER], DELTA] + number * (bits // 8)
    if bits == 8:
        return int(t.memory.bytes[place])
    return int(t.memory.halves[place >> 1] if bits == 16 else t.memory.words[place >> 2])


@compiled
def border_integer(t: Texture, number: int) -> int:
    """The border's colour in the format of the texels, to the nearest, halves down (measured: 0.5 of 255 is 127)."""
    kind, bits = t.table[t.row, Field.CHANNEL_KIND], t.table[t.row, Field.BITS]
    least = -1.0 if kind == ChannelKind.SIGNED else 0.0
    colour = max(min(bits_float(t.table[t.row, Field.BORDER + number]), 1.0), least)
    largest = (1 << bits - 1 if kind == ChannelKind.SIGNED else 1 << bits) - 1
    return int(np.ceil(colour * largest - 0.5))


@compiled
def result_integer(t: Texture, address: int, number: int) -> int:
    """Of a channel of 8 or 16 bits that is read as a fraction, before it is divided; address -1: of the border."""
    if address < 0:
        return int(border_integer(t, number))
    word, bits = channel(t, address, number), t.table[t.row, Field.BITS]
    return int(signed(word, bits) if t.table[t.row, Field.CHANNEL_KIND] == ChannelKind.SIGNED else word)


@compiled
def result_word(t: Texture, address: int, number: int) -> int:
    """Of a channel as it is returned without interpolation; those that the format does not have are 0 (measured)."""
    kind, as_float = t.table[t.row, Field.CHANNEL_KIND], t.table[t.row, Field.AS_FLOAT]
    bits = t.table[t.row, Field.BITS]
    if number >= t.table[t.row, Field.CHANNELS]:
        return 0
    if address < 0:
        if as_float and kind != ChannelKind.FLOAT:
            return float_bits(fraction(border_integer(t, number), bits, kind))
        return int(t.table[t.row, Field.BORDER + number])
    return int(channel_word(channel(t, address, number), bits, kind, as_float))
