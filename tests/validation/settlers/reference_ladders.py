"""What the rungs of the settlers' ladders (launches.toml) have to leave, in numpy.

wanted = TRUTHS["pixel shuffle"](rung, arguments)     # {1: array}, by place; arguments as they were before
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers.references import Array, Wanted


def sum_of_matrices(rung: str, given: Sequence[Any]) -> Wanted:
    return {0: given[1] + given[2]}


def potential_in_a_plane(rung: str, given: Sequence[Any]) -> Wanted:
    _, nx, ny, apart, z, atoms, _ = given
    x, y, height, charge = atoms.astype(np.float64).reshape(-1, 4).T
    across, down = apart * np.arange(nx)[:, None] - x, apart * np.arange(ny)[:, None] - y
    square = across**2 + (down**2)[:, None] + (z - height) ** 2
    return {0: (charge / np.sqrt(square)).sum(axis=2)}


def keys_counted_roughly(rung: str, given: Sequence[Any]) -> Wanted:
    hashed: Array = given[0].reshape(-1).view(np.uint64)
    hashed = (hashed ^ hashed >> np.uint64(33)) * np.uint64(0xFF51AFD7ED558CCD)
    hashed = (hashed ^ hashed >> np.uint64(33)) * np.uint64(0xC4CEB9FE1A85EC53)
    hashed ^= hashed >> np.uint64(33)
    longest = np.zeros(4096, np.int32)
    zeros = np.array([53 - (int(h) % 2**52 or 1).bit_length() for h in hashed], np.int32)
    np.maximum.at(longest, (hashed >> np.uint64(52)).astype(int), zeros)
    return {2: longest}


def pixel_shuffle(rung: str, given: Sequence[Any]) -> Wanted:
    x, _, channels, height, width = given
    squares = x.reshape(channels, 2, 2, height, width)
    return {1: squares.transpose(0, 3, 1, 4, 2).copy()}


def links_times_colours(rung: str, given: Sequence[Any]) -> Wanted:
    links, colours = (part.astype(np.float64).view(np.complex128) for part in given[:2])
    if rung == "su3_mult_soa":
        found = np.einsum("ijs,js->is", links.reshape(3, 3, -1), colours.reshape(3, -1))
    else:
        found = np.einsum("sij,sj->si", links.reshape(-1, 3, 3), colours.reshape(-1, 3))
    return {2: found.reshape(-1).view(np.float64)}


TRUTHS: Mapping[str, Callable[[str, Sequence[Any]], Wanted]] = {
    truth.__name__.replace("_", " "): truth
    for truth in (sum_of_matrices, potential_in_a_plane, keys_counted_roughly, pixel_shuffle, links_times_colours)
}
