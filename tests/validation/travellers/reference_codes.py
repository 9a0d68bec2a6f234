"""What travellers of bytes, texts and tables (traveller_codes.cu) have to leave, in numpy; see reference.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def siphash_rows(given: Sequence[Any]) -> Wanted:
    texts, lengths, keys, _, n = given
    words, u = texts.reshape(n, 8), np.uint64
    starts = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    state = [np.full(n, u(start) ^ keys[k % 2]) for k, start in enumerate(starts)]

    def turned(v: Array, by: int) -> Array:
        return v << u(by) | v >> u(64 - by)

    def rounds(state: list[Array], times: int) -> list[Array]:
        a, b, c, d = state
        for _ in range(times):
            a, c = a + b, c + d
            b, d = turned(b, 13) ^ a, turned(d, 16) ^ c
            a, c = turned(a, 32) + d, c + b
            d, b = turned(d, 21) ^ a, turned(b, 17) ^ c
            c = turned(c, 32)
        return [a, b, c, d]

    whole = lengths // 8
    kept = words[np.arange(n), whole] & ((u(1) << (lengths % 8).astype(u) * u(8)) - u(1))
    last = lengths.astype(u) << u(56) | kept
    for k in range(8):
        word = np.where(k < whole, words[:, k], last)
        a, b, c, d = rounds([*state[:3], state[3] ^ word], 2)
        state = [np.where(k <= whole, new, old) for new, old in zip((a ^ word, b, c, d), state, strict=True)]
    a, b, c, d = rounds([*state[:2], state[2] ^ u(255), state[3]], 4)
    return {3: a ^ b ^ c ^ d}


def parity_shards(given: Sequence[Any]) -> Wanted:
    data, factors, _, n = given
    shards = data.view(np.uint8).reshape(10, 8 * n)
    found = np.zeros((4, 8 * n), np.uint8)
    for row, shard in product(range(4), range(10)):
        v, factor = shards[shard].astype(np.uint16), int(factors[10 * row + shard])
        for bit in range(8):
            if factor >> bit & 1:
                found[row] ^= v.astype(np.uint8)
            v = v << 1 ^ (v >> 7) * 0x11D
    return {2: found.view(np.uint32)}


def like_rows(given: Sequence[Any]) -> Wanted:
    texts, lengths, _, n = given
    pattern = re.compile(rb".*?ab.*?c.d", re.DOTALL)
    rows = [text.tobytes()[:length] for text, length in zip(texts.reshape(n, 32), lengths, strict=True)]
    bits = np.array([pattern.match(row) is not None for row in rows])
    return {2: np.packbits(bits, bitorder="little").view(np.uint32)}


def sales_by_kind(given: Sequence[Any]) -> Wanted:
    day, kind, quantity, price, discount, tax, _, last, _ = given
    paid = price.astype(np.uint64) * (100 - discount)
    each = np.stack([np.ones_like(paid), quantity, price, paid, paid * (100 + tax)], axis=1)
    sums = np.zeros((6, 5), np.uint64)
    np.add.at(sums, kind[day <= last], each[day <= last])
    return {6: sums}


def quotes_as_of(given: Sequence[Any]) -> Wanted:
    thing, time, quoted, asked, _, m, _ = given
    start = thing.astype(np.int64) * m
    place = np.clip(np.searchsorted(quoted, quoted[start] + time, "right"), start, start + m)
    return {4: np.where(place > start, asked[place - 1], 0).astype(np.int32)}


def quoted_commas(given: Sequence[Any]) -> Wanted:
    pieces = given[0].reshape(-1, 8192)
    outside = (pieces == ord(",")) & (np.cumsum(pieces == ord('"'), axis=1) % 2 == 0)
    bits = np.packbits(outside, axis=1, bitorder="little").view(np.uint32)
    return {1: bits, 2: outside.sum(axis=1).astype(np.int32)}


def bit_distance(given: Sequence[Any]) -> Wanted:
    patterns, texts, lengths, _, n = given
    column, found = np.tile(np.arange(65)[:, None], n), np.zeros(n, np.int32)
    for k, letter in enumerate(texts.reshape(100, n), 1):
        next_one = np.full((65, n), k)
        for p, wanted in enumerate(patterns.reshape(64, n)):
            least = np.minimum(column[p + 1], next_one[p]) + 1
            next_one[p + 1] = np.minimum(least, column[p] + (letter != wanted))
        column = next_one
        found = np.where(lengths == k, column[64], found)
    return {3: found.astype(np.int32)}


def minimisers(given: Sequence[Any]) -> Wanted:
    letters, n = given[0].astype(np.uint32), given[3]
    there, back = np.zeros(n + 9, np.uint32), np.zeros(n + 9, np.uint32)
    for k in range(15):
        there = there << 2 | letters[k : k + n + 9]
        back |= (3 - letters[k : k + n + 9]) << 2 * k
    v = np.minimum(there, back)
    v = (v ^ v >> 17) * np.uint32(0xED5AD4BB)
    v = (v ^ v >> 11) * np.uint32(0xAC4C1B51)
    v ^= v >> 15
    windows = np.lib.stride_tricks.sliding_window_view(v, 10)
    return {1: windows.min(axis=1), 2: (windows.argmin(axis=1) + np.arange(n)).astype(np.int32)}


TRUTHS: dict[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        siphash_rows, parity_shards, like_rows, sales_by_kind, quotes_as_of, quoted_commas, bit_distance, minimisers
    )
}  # fmt: skip
