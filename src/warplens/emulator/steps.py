"""What single warps do, lane by lane: the basic blocks that they enter and the addresses that they reach.

For pictures and for questions about a few blocks; what prices a whole launch is streams.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from warplens.emulator import entries
from warplens.emulator.lane_recorder import ENTRY
from warplens.emulator.recorder import SPACES
from warplens.emulator.streams import Streams
from warplens.isa._warp import Space


@dataclass(frozen=True, slots=True)
class Entered:
    """Lanes of a warp begin basic block number `code` of the program.  lanes: a bit for each."""

    block: int
    warp: int
    code: int
    lanes: int


@dataclass(frozen=True, slots=True)
class Access:
    """Lanes of a warp execute a memory instruction, by its number, of `bytes` a lane.

    addresses   of all 32 lanes, of which those count that are in `lanes`; offsets where space is not "global"
    """

    block: int
    warp: int
    instruction: int
    space: Space
    bytes: int
    lanes: int
    addresses: tuple[int, ...]

    @property
    def reached(self) -> dict[int, int]:
        """The address of each active lane."""
        return {lane: address for lane, address in enumerate(self.addresses) if self.lanes >> lane & 1}


Step: TypeAlias = Entered | Access


def read_steps(streams: Streams) -> Iterator[Step]:
    """The log of a recording with lanes, in the order in which the warps ran."""
    spaces = {number: space for space, number in SPACES.items()}
    words, at, block, warp = streams.words.tolist(), 0, 0, 0
    while at < len(words):
        head = words[at]
        if head & entries.ENTER:
            block, warp = words[at + 1], head >> entries.WARP & entries.MOST_WARPS
            yield Entered(block, warp, head & entries.MOST_BASIC_BLOCKS, words[at + 2])
            at += entries.ENTERED
            continue
        lower, upper = words[at + 2 : at + 34], words[at + 34 : at + ENTRY]
        addresses = tuple(low | high << 32 for low, high in zip(lower, upper, strict=True))
        space = spaces[head >> entries.SPACE & entries.MOST_SPACES]
        size = head >> entries.SECTORS & entries.MOST_SECTORS
        yield Access(block, warp, head & entries.MOST_INSTRUCTIONS, space, size, words[at + 1], addresses)
        at += ENTRY
