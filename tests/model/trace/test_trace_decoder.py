"""The decoder reads each field of a word that the recorder's format describes."""

from __future__ import annotations

from itertools import product

import numpy as np

from warplens.emulator.state import trace_format as laid
from warplens.model.trace.trace_decoder import basic_block, instruction, reached, sectors, space


def test_fields_of_an_access() -> None:
    for where, count, number in product((laid.GLOBAL, laid.TABLE), (0, 1, 32, laid.MOST_SECTORS), (0, 7, 0xFFFFF)):
        word = np.uint32(where << laid.SPACE | count << laid.SECTORS | number)
        assert (space(word), sectors(word), instruction(word)) == (where, count, number)
    for wavefronts, lanes, distinct in product((0, 1, 32, 200), (0, 1, 32), (0, 5, 32)):
        word = np.uint32(wavefronts | lanes << laid.LANES | distinct << laid.DISTINCT | 3 << laid.PASSES)
        assert tuple(reached(word)) == (wavefronts, lanes, distinct)


def test_the_number_of_a_basic_block() -> None:
    assert basic_block(np.uint32(laid.ENTER | 5 << laid.WARP | 0xABCDE)) == 0xABCDE
