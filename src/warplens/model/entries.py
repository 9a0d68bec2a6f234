"""The words of a recording, read: emulator/entries.py says how they are laid out.  F5.

Put in order by warp (by_warp.py), the entry of a basic block has two words, ENTER | its number and the lanes.
"""
# mypy: disable-error-code="untyped-decorator,misc,no-any-return"

from __future__ import annotations

import numpy as np
from numba import njit

from warplens.emulator import entries as laid

ENTER = np.uint32(laid.ENTER)
OF_WARP = 2  # words of the entry of a basic block in order by warp


@njit(cache=True)
def basic_block(word):  # type: ignore[no-untyped-def]
    return np.int64(word) & laid.MOST_BASIC_BLOCKS


@njit(cache=True)
def instruction(word):  # type: ignore[no-untyped-def]
    return np.int64(word) & laid.MOST_INSTRUCTIONS


@njit(cache=True)
def sectors(word):  # type: ignore[no-untyped-def]
    return np.int64(word) >> laid.SECTORS & laid.MOST_SECTORS


@njit(cache=True)
def space(word):  # type: ignore[no-untyped-def]
    return np.int64(word) >> laid.SPACE & laid.MOST_SPACES


@njit(cache=True)
def length(word):  # type: ignore[no-untyped-def]
    """Words of an access."""
    return laid.ACCESSED + sectors(word)


@njit(cache=True)
def reached(word):  # type: ignore[no-untyped-def]
    """Of the second word of an access: wavefronts, lanes, distinct words."""
    bits = np.int64(word)
    return bits & laid.MOST_WAVEFRONTS, bits >> laid.LANES & laid.MOST_LANES, bits >> laid.DISTINCT & laid.MOST_DISTINCT
