"""What settlers (launches.toml) have to leave, in numpy; rungs in reference_ladders.py,
games, pictures and fields in reference_fields.py.

    wanted = TRUTHS["blake2b_128"](arguments)     # {1: array}, by place; arguments as they were before
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from helpers.references import Array, Wanted, floats
from validation.settlers import reference_fields

WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def piRectangles(given: Sequence[Any]) -> Wanted:
    partial, steps = given
    x = (np.arange(steps) + 0.5) / steps
    block = np.arange(steps) // 256 % partial.size
    return {0: np.bincount(block, 4 / (1 + x**2), partial.size) / steps}


def computeQ(given: Sequence[Any]) -> Wanted:
    places = np.stack([part.astype(np.float64) for part in given[:3]], axis=1)
    samples = given[3].astype(np.float64).reshape(-1, 4)
    turns = 2 * np.pi * places @ samples[:, :3].T
    return {5: np.stack([np.cos(turns) @ samples[:, 3], np.sin(turns) @ samples[:, 3]], axis=1)}


def blake2b_128(given: Sequence[Any]) -> Wanted:
    digests = [hashlib.blake2b(message.tobytes(), digest_size=32).digest() for message in given[0].reshape(-1, 32)]
    return {1: np.frombuffer(b"".join(digests), np.uint32)}


def is_prime(n: int, rounds: int) -> bool:
    if any(n % p == 0 for p in WITNESSES):
        return n in WITNESSES
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    first = [pow(p, (n - 1) >> twos, n) for p in WITNESSES[:rounds]]
    return all(x == 1 or any(pow(x, 2**r, n) == n - 1 for r in range(twos)) for x in first)


def miller_rabin(given: Sequence[Any]) -> Wanted:
    numbers = given[0].reshape(-1).view(np.uint64) >> np.uint64(1) | np.uint64(1)
    return {1: np.array([is_prime(int(n), given[2]) for n in numbers], np.uint8)}


def deal_poker(given: Sequence[Any], blocks: int = 40) -> Wanted:
    """Each hand by how often it has each rank and colour."""
    _, seed, hands = given
    state = ((np.uint64(seed) + np.arange(256 * blocks, dtype=np.uint64)) * 2654435761 + 1) % 2**32
    histogram = np.zeros(9, np.uint32)
    for _ in range(hands):
        held = np.zeros((state.size, 4, 13), bool)
        while (short := held.sum(axis=(1, 2)) < 7).any():
            drawn = state ^ state << np.uint64(13) & np.uint64(2**32 - 1)
            drawn ^= drawn >> np.uint64(17)
            drawn ^= drawn << np.uint64(5) & np.uint64(2**32 - 1)
            state = np.where(short, drawn, state)
            card = (state * 52 >> np.uint64(32)).astype(int)
            held[short, card[short] // 13, card[short] % 13] = True
        histogram += np.bincount(kind_of_hands(held), minlength=9).astype(np.uint32)
    return {0: histogram}


def kind_of_hands(held: Array) -> Array:
    ranks = np.sort(held.sum(axis=1), axis=1)[:, ::-1]
    flush = held.sum(axis=2) >= 5
    in_flush = (held & flush[:, :, None]).any(axis=1)
    return np.select(
        [
            straight(in_flush), ranks[:, 0] == 4, (ranks[:, 0] == 3) & (ranks[:, 1] >= 2), flush.any(axis=1),
            straight(held.any(axis=1)), ranks[:, 0] == 3, ranks[:, 1] == 2, ranks[:, 0] == 2,
        ],
        [8, 7, 6, 5, 4, 3, 2, 1],
    )  # fmt: skip


def straight(ranks: Array) -> Array:
    """Whether five ranks in a row are there; the ace is the last and the first."""
    wide = np.concatenate([ranks[:, -1:], ranks], axis=1)
    return np.any([wide[:, k : k + 5].all(axis=1) for k in range(10)], axis=0)


def encode_letters(given: Sequence[Any]) -> Wanted:
    letters, codes, lengths, words, *_ = given
    each = lengths[letters].astype(int).reshape(-1, 1024)
    code = (codes[letters] % 2 ** lengths[letters].astype(int)).reshape(-1, 1024)
    found = np.zeros(words.shape, np.uint32).reshape(-1, 384)
    for row, block, wide in zip(found, code, each, strict=True):
        upto = np.concatenate([[0], wide.cumsum()])
        together = sum(int(value) << int(start) for value, (start, _) in zip(block, pairwise(upto), strict=True))
        row[:] = np.frombuffer(together.to_bytes(4 * row.size, "little"), np.uint32)
    return {3: found, 4: each.sum(axis=1).astype(np.int32)}


def prune_2_of_4(given: Sequence[Any]) -> Wanted:
    weights = given[0].reshape(-1, 4)
    kept = np.sort((-np.abs(floats(weights))).argsort(axis=1, kind="stable")[:, :2], axis=1)
    bits = (kept[:, 0] | kept[:, 1] << 2).reshape(-1, 4) << np.arange(0, 16, 4)
    return {1: np.take_along_axis(weights, kept, axis=1), 2: bits.sum(axis=1).astype(np.uint16)}


def outer_product_mean(given: Sequence[Any]) -> Wanted:
    a, b, _, left, right, depth = given
    one, other = (part.astype(np.float64).reshape(depth, -1, 32) for part in (a, b))
    assert one.shape[1:] == (left, 32)
    assert other.shape[1:] == (right, 32)
    return {2: np.einsum("sic,sjd->ijcd", one, other, optimize=True) / depth}


TRUTHS: Mapping[str, Callable[[Sequence[Any]], Wanted]] = {
    truth.__name__: truth
    for truth in (
        piRectangles, computeQ, blake2b_128, miller_rabin, deal_poker, encode_letters, prune_2_of_4,
        outer_product_mean,
    )
} | reference_fields.TRUTHS  # fmt: skip
