"""The simulation of one multiprocessor: what it works on, as it is at first, and what comes out of it.  F5."""

from __future__ import annotations

import numpy as np

from warplens.model import places as p
from warplens.model import written
from warplens.model.activity import History
from warplens.model.by_warp import ByWarp
from warplens.model.constant_path import BANKS, LINES, LINES_OF_BANK
from warplens.model.l1_lines import sets_of
from warplens.model.l2_share import ALL_PLACES, book_of
from warplens.model.machine_code import MachineCode
from warplens.model.multiprocessor import NOW, OVER, UNTIL, run
from warplens.model.pipes import idle
from warplens.model.state import Array, Blocks, Memory, Warps, Work


class Simulation:
    """counts: by place in places.py;  stalls: cycles by (reason, instruction);  busy: cycles of each pipe"""

    def __init__(
        self, own: ByWarp, resident: int, code: MachineCode, s: Array, supply: tuple[Array, ...],
        lines: tuple[int, ...], asked: Array,
    ) -> None:  # fmt: skip
        """Runs blocks one after the other, so many resident at a time.

        lines   of L1, and of the multiprocessor's share of L2
        asked   when the first multiprocessor has asked for lines, which all that run together share (memory_path.py)
        """
        number, slots = len(own.blocks), resident * own.warps
        self.counts, self.busy, self.ended = np.zeros(p.COUNTS), np.zeros(p.PIPES), np.zeros(number)
        self.stalls = np.zeros((len(p.REASONS), code.rows.shape[0]))
        self.clock = np.zeros(3)
        self.memory = _memory(s, lines, asked, int((own.ends - own.starts).sum()))
        self.blocks = _blocks(number, resident, s)
        work = Work(
            own.words, own.starts, own.ends, own.warps, code.rows, code.cycles, code.latencies, code.firsts, code.lasts
        )
        seen = np.zeros(code.rows.shape[0] // p.CODE_LINE + 1, np.int64)  # code that has been fetched
        self._run = run.of(
            self.clock, _warps(slots), self.blocks, work, self.memory, idle(), seen, self.counts, self.stalls,
            self.ended, self.busy, s, supply,
        )  # fmt: skip

    @property
    def over(self) -> bool:
        return bool(self.clock[OVER] == self.ended.size)

    @property
    def now(self) -> float:
        return float(self.clock[NOW])

    def go_on(self, until: float) -> None:
        self.clock[UNTIL] = until
        self._run()

    @property
    def history(self) -> History:
        reported = float(self.memory.servers[p.REPORTS])
        return History(self.blocks.began, self.ended, self.blocks.resided, reported)


def _nothing_asked(words: int) -> Array:
    """For l2_share.asked_before; a word of a record asks for two places at the most."""
    return np.zeros(min(1 << (3 * words).bit_length(), ALL_PLACES), np.uint32)


def _memory(s: Array, lines: tuple[int, ...], asked: Array, words: int) -> Memory:
    l1, held = sets_of(lines[0]) * p.WAYS, BANKS * LINES_OF_BANK
    cache = (
        np.full(l1, -1, np.int64), np.zeros(l1), np.zeros(l1, np.int64), np.zeros(4 * l1), _nothing_asked(words), asked,
        np.zeros(l1), np.zeros(l1, np.int64), book_of(lines[1], words), written.book_of(lines[2], lines[3], words),
    )  # fmt: skip
    constants = np.full(LINES, -1, np.int64), np.zeros(LINES), np.full(held, -p.NEVER), np.zeros(held, np.uint8)
    return Memory(
        cache, constants, np.zeros(int(s[p.IN_FLIGHT])), np.zeros(int(s[p.UPDATES_IN_FLIGHT])), np.zeros(p.SERVERS),
        np.zeros(p.SUBPARTITIONS), np.zeros((p.SUBPARTITIONS, int(s[p.QUEUE]))), np.zeros(p.SUBPARTITIONS, np.int64),
    )  # fmt: skip


def _warps(slots: int) -> Warps:
    return Warps(
        np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.full(slots, -1, np.int64), np.zeros(slots, np.int64),
        np.full(slots, p.NEVER), np.zeros(slots), np.zeros(slots, np.int64), np.zeros(slots, np.int64),
        np.full(slots, -1, np.int64), np.zeros(slots), np.zeros((slots, p.SCOREBOARDS)),
        np.zeros((slots, p.SCOREBOARDS), np.int64), np.zeros((slots, p.GROUPS)), np.zeros(slots, np.int64),
        np.zeros(slots), np.zeros(slots),
    )  # fmt: skip


def _blocks(number: int, resident: int, s: Array) -> Blocks:
    return Blocks(
        np.full(resident, -1, np.int64), np.zeros(resident, np.int64), np.zeros(resident, np.int64),
        np.zeros((resident, p.BLOCK_BARRIERS), np.int64), np.zeros(p.SUBPARTITIONS),
        np.full(p.SUBPARTITIONS, -1), np.zeros(2, np.int64), np.full(1, s[p.FIRST_PLACED]), np.zeros(number),
        np.zeros(number),
    )  # fmt: skip
