"""Access patterns: which lanes reach which bytes, by request and by buffer, in blocks that were traced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from warplens.core.cubin import SourceLine
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator import BlockEntry, LaneAccess, Step
from warplens.report.pictures.lanes_to_banks import lanes_to_banks, wavefronts
from warplens.report.pictures.lanes_to_sectors import lanes_to_sectors

SECTOR = 32  # bytes
DRAWN = 8  # instructions, those that move most
MOST_REQUESTS = 6_000  # that are traced: half a second
MOST_BLOCKS = 16


@dataclass(frozen=True, slots=True)
class NamedBuffer:
    """An allocation of device memory."""

    name: str
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class RequestPicture:
    """cost: sectors or wavefronts of the request;  requests: traced ones with this cost"""

    kind: str
    cost: int
    requests: int
    svg: str


@dataclass(frozen=True, slots=True)
class AccessPattern:
    """A memory instruction: its most frequent request, and its worst if that costs more.

    unit   "sectors" or "wavefronts"
    """

    offset: int
    opcode: str
    source: SourceLine | None
    space: str
    unit: str
    requests: int
    total: int
    pictures: tuple[RequestPicture, ...]


@dataclass
class BufferUse:
    """A buffer as the traced blocks use it.

    fetches   requests by sector, numbered from the start of the buffer;  used: bytes of it that any lane names, a bit
              each
    """

    buffer: NamedBuffer
    fetches: Counter[int] = field(default_factory=Counter)
    used: dict[int, int] = field(default_factory=dict)

    @property
    def most(self) -> int:
        return max(self.fetches.values())

    @property
    def average(self) -> float:
        return self.fetches.total() / len(self.fetches)

    @property
    def unused(self) -> int:
        """Bytes of the sectors that are moved, but never used."""
        return SECTOR * len(self.fetches) - sum(mask.bit_count() for mask in self.used.values())


@dataclass(frozen=True)
class AccessView:
    """missing: why there is nothing, "" where there is something."""

    blocks: tuple[int, ...] = ()
    of_blocks: int = 0
    patterns: tuple[AccessPattern, ...] = ()
    buffers: tuple[BufferUse, ...] = ()
    missing: str = ""

    @property
    def traced(self) -> str:
        """ "blocks 0 to 14 and 255 of 256"."""
        *front, last = self.blocks
        if not front:
            return f"block {last} of {self.of_blocks:,}"
        if len(self.blocks) == self.of_blocks:
            return f"all {self.of_blocks:,} blocks"
        together = f"blocks 0 to {front[-1]}" if len(front) > 1 else f"blocks {front[0]}"
        return f"{together} and {last:,} of {self.of_blocks:,}"


def chosen_blocks(launch: Launch, requests: int) -> tuple[int, ...]:
    """The first blocks and the last, as many as may be traced; () where one makes too many requests."""
    each = max(requests // launch.blocks, 1)
    if each > MOST_REQUESTS:
        return ()
    number = min(max(MOST_REQUESTS // each, 1), MOST_BLOCKS, launch.blocks)
    return (*range(number - 1), launch.blocks - 1)


def access_view(
    program: Program, launch: Launch, blocks: tuple[int, ...], steps: Iterable[Step], buffers: Sequence[NamedBuffer]
) -> AccessView:
    """What these blocks did, by instruction and by buffer."""
    accesses = [step for step in steps if not isinstance(step, BlockEntry) and step.lanes]
    by_instruction: dict[int, list[LaneAccess]] = {}
    uses = [BufferUse(buffer) for buffer in buffers]
    for access in accesses:
        by_instruction.setdefault(access.instruction, []).append(access)
        if access.space == "global":
            _use(access, uses)
    patterns = [_pattern(program, index, found, buffers) for index, found in by_instruction.items()]
    ordered = sorted(patterns, key=lambda pattern: (-pattern.total, pattern.offset))
    return AccessView(blocks, launch.blocks, tuple(ordered[:DRAWN]), tuple(use for use in uses if use.fetches))


def _use(access: LaneAccess, uses: Sequence[BufferUse]) -> None:
    """Adds a request to the buffers that it reaches: a sector counts once a request, however many lanes name it."""
    named: dict[int, dict[int, int]] = {}
    for address in access.reached.values():
        for place, use in enumerate(uses):
            start = address - use.buffer.address
            if 0 <= start < use.buffer.size:
                sectors = named.setdefault(place, {})
                for byte in range(start, start + access.bytes):
                    sectors[byte // SECTOR] = sectors.get(byte // SECTOR, 0) | 1 << byte % SECTOR
                break
    for place, sectors in named.items():
        uses[place].fetches.update(sectors.keys())
        for sector, mask in sectors.items():
            uses[place].used[sector] = uses[place].used.get(sector, 0) | mask


def _pattern(program: Program, index: int, found: list[LaneAccess], buffers: Sequence[NamedBuffer]) -> AccessPattern:
    instruction, space = program.instructions[index], found[0].space
    costs = [_cost(access) for access in found]
    frequent = Counter(costs)
    typical = max(frequent, key=lambda cost: (frequent[cost], -cost))
    chosen = [("typical", typical)] + ([("worst", max(costs))] if max(costs) > typical else [])
    pictures = []
    for kind, cost in chosen:
        svg = _drawn(found[costs.index(cost)], f"{kind} request of {instruction.opcode}", buffers)
        pictures.append(RequestPicture(kind, cost, frequent[cost], svg))
    unit = "wavefronts" if space == "shared" else "sectors"
    return AccessPattern(
        instruction.offset, instruction.opcode, instruction.source, space, unit, len(found), sum(costs), tuple(pictures)
    )


def _cost(access: LaneAccess) -> int:
    if access.space == "shared":
        return wavefronts(access.reached, access.bytes)
    ends = (0, access.bytes - 1)
    return len({(address + end) // SECTOR for address in access.reached.values() for end in ends})


def _drawn(access: LaneAccess, title: str, buffers: Sequence[NamedBuffer]) -> str:
    title = title[0].upper() + title[1:]
    if access.space == "shared":
        return lanes_to_banks(access.reached, access.bytes, title)
    first = min(access.reached.values())
    base = next((b.address for b in buffers if b.address <= first < b.address + b.size), 0)
    return lanes_to_sectors(access.reached, access.bytes, base, title)
