"""Access patterns of kernels whose addresses can be told from the source."""

from __future__ import annotations

from helpers.hand_made_traces import program
from warplens.core.launch import Launch
from warplens.emulator import LaneAccess
from warplens.report.access_patterns import AccessView, NamedBuffer, access_view, chosen_blocks
from warplens.report.html.sector_map import sector_map

CODE = program("LDG.E R0,[R2.64]\nLDS R4,[R5]\nEXIT", lines=(7, 8, None))
DATA = NamedBuffer("data", 0x1000, 4096)


def lanes(instruction: int, space: str, addresses: list[int], size: int = 4) -> LaneAccess:
    return LaneAccess(0, 0, instruction, space, size, 2**32 - 1, tuple(addresses))  # type: ignore[arg-type]


def seen(*accesses: LaneAccess) -> AccessView:
    return access_view(CODE, Launch((4, 1, 1), (32, 1, 1)), (0,), accesses, [DATA])


def test_the_most_frequent_request_and_the_worst() -> None:
    packed = lanes(0, "global", [0x1000 + 4 * lane for lane in range(32)])
    strided = lanes(0, "global", [0x1000 + 32 * lane for lane in range(32)])
    (pattern,) = seen(packed, strided, packed).patterns
    assert [(picture.kind, picture.cost, picture.requests) for picture in pattern.pictures] == [
        ("typical", 4, 2), ("worst", 32, 1),
    ]  # fmt: skip
    assert (pattern.total, pattern.unit, pattern.requests) == (40, "sectors", 3)
    assert "Worst request of LDG.E" in pattern.pictures[1].svg


def test_shared_memory_counts_wavefronts() -> None:
    (pattern,) = seen(lanes(1, "shared", [128 * lane for lane in range(32)])).patterns
    assert [(picture.kind, picture.cost) for picture in pattern.pictures] == [("typical", 32)]
    assert pattern.unit == "wavefronts"


def test_a_sector_counts_once_a_request_and_unused_bytes_are_known() -> None:
    every_other = lanes(0, "global", [0x1000 + 8 * lane for lane in range(32)])
    (use,) = seen(every_other, every_other).buffers
    assert use.fetches == dict.fromkeys(range(8), 2)
    assert (use.average, use.most, use.unused) == (2.0, 2, 8 * 16)
    (cell,) = sector_map(use).cells
    assert cell.title == "bytes 0 to 255: each sector moved 2 times, 16 of 32 bytes never used"
    assert (cell.step, cell.width, cell.unused) == (2, 160, 6.0)


def test_what_lies_far_on_is_counted_and_not_drawn() -> None:
    big = NamedBuffer("big", 0, 1 << 20)
    steps = [lanes(0, "global", [place * 4096 + 4 * lane for lane in range(32)]) for place in range(32)]
    (use,) = access_view(CODE, Launch((1, 1, 1), (32, 1, 1)), (0,), steps, [big]).buffers
    found = sector_map(use)
    assert found.rows == 24
    assert found.left_out == len(use.fetches) - 4 * 6


def test_blocks_that_are_traced() -> None:
    assert chosen_blocks(Launch((100, 1, 1), (32, 1, 1)), 100) == (*range(15), 99)
    assert chosen_blocks(Launch((2, 1, 1), (32, 1, 1)), 10_000) == (1,)
    assert chosen_blocks(Launch((2, 1, 1), (32, 1, 1)), 100_000) == ()
    assert AccessView((0, 1, 99), 100).traced == "blocks 0 to 1 and 99 of 100"
    assert AccessView((0, 1), 2).traced == "all 2 blocks"
    assert AccessView((7,), 8).traced == "block 7 of 8"
