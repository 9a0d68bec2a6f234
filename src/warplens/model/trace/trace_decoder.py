"""Trace decoder: reads the words of a recording (layout: emulator/state/trace_format.py).

In order by warp (warp_streams.py), the entry of a basic block has two words, ENTER | its number and the lanes.
"""

from __future__ import annotations

import numpy as np

from warplens.emulator.state import trace_format as laid
from warplens.simc import compiled

ENTER = np.uint32(laid.ENTER)
OF_WARP = 2  # words of a basic-block entry, in order by warp


@compiled
def basic_block(word):  # type: ignore[no-untyped-def]
    return np.int64(word) & laid.MOST_BASIC_BLOCKS


@compiled
def instruction(word):  # type: ignore[no-untyped-def]
    return np.int64(word) & laid.MOST_INSTRUCTIONS


@compiled
def sectors(word):  # type: ignore[no-untyped-def]
    return np.int64(word) >> laid.SECTORS & laid.MOST_SECTORS


@compiled
def space(word):  # type: ignore[no-untyped-def]
    return np.int64(word) >> laid.SPACE & laid.MOST_SPACES


@compiled
def length(word):  # type: ignore[no-untyped-def]
    """Words of an access entry."""
    return laid.ACCESSED + sectors(word)


@compiled
def reached(word):  # type: ignore[no-untyped-def]
    """(wavefronts, lanes, distinct words) from the second word of an access."""
    bits = np.int64(word)
    return bits & laid.MOST_WAVEFRONTS, bits >> laid.LANES & laid.MOST_LANES, bits >> laid.DISTINCT & laid.MOST_DISTINCT


@compiled
def passes(word):  # type: ignore[no-untyped-def]
    """From the second word of an atomic: lanes on the fullest word of each sector, summed, and on the fullest of
    all."""
    bits = np.int64(word)
    return bits >> laid.PASSES & laid.MOST_PASSES, bits >> laid.FULLEST & laid.MOST_FULLEST
