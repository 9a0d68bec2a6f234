"""Lane trace: the basic blocks that single warps enter and the addresses that they access, lane by lane.

For pictures and for questions about a few blocks; for the model of time there is warp_trace.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from warplens.emulator.instrument.lane_recorder import ENTRY
from warplens.emulator.instrument.warp_recorder import SPACES
from warplens.emulator.state import trace_format
from warplens.emulator.trace.warp_trace import WarpTraces
from warplens.isa.dsl.warp_interface import Space


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """Block entry: lanes of a warp (a bit each) enter basic block number `code` of the program."""

    block: int
    warp: int
    code: int
    lanes: int


@dataclass(frozen=True, slots=True)
class LaneAccess:
    """Lane access: lanes of a warp execute a memory instruction, by its number, of `bytes` a lane.

    addresses   of all 32 lanes, valid for those in `lanes`; offsets where space is not "global"
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


Step: TypeAlias = BlockEntry | LaneAccess


def read_steps(streams: WarpTraces) -> Iterator[Step]:
    """The entries of a recording with lanes, in execution order."""
    spaces = {number: space for space, number in SPACES.items()}
    words, at, block, warp = streams.words.tolist(), 0, 0, 0
    while at < len(words):
        head = words[at]
        if head & trace_format.ENTER:
            block, warp = words[at + 1], head >> trace_format.WARP & trace_format.MOST_WARPS
            yield BlockEntry(block, warp, head & trace_format.MOST_BASIC_BLOCKS, words[at + 2])
            at += trace_format.ENTERED
            continue
        lower, upper = words[at + 2 : at + 34], words[at + 34 : at + ENTRY]
        addresses = tuple(low | high << 32 for low, high in zip(lower, upper, strict=True))
        space = spaces[head >> trace_format.SPACE & trace_format.MOST_SPACES]
        size = head >> trace_format.SECTORS & trace_format.MOST_SECTORS
        yield LaneAccess(block, warp, head & trace_format.MOST_INSTRUCTIONS, space, size, words[at + 1], addresses)
        at += ENTRY
