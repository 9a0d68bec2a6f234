"""Which sectors of which lines the lanes of one warp reach with one access to global memory."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.report.pictures._svg import Svg

SECTOR, LINE = 32, 128
MARGIN, TOP, LANE_HEIGHT, GAP, SECTOR_HEIGHT = 16, 62, 16, 74, 18
WIDTH = 800


def lanes_to_sectors(reached: Mapping[int, int], size: int, base: int = 0, title: str = "One access of a warp") -> str:
    """The picture as SVG text.

    reached   the address of each active lane;  size: bytes a lane;  base: the address that is called 0
    """
    touched = {byte // SECTOR for address in reached.values() for byte in (address, address + size - 1)}
    lines = sorted({sector * SECTOR // LINE for sector in touched})
    svg = Svg(WIDTH, TOP + LANE_HEIGHT + GAP + SECTOR_HEIGHT + 34, title, describe(reached, size, touched, len(lines)))
    step = (WIDTH - 2 * MARGIN) / 32
    space = min(8.0, 160 / len(lines))
    of_line = min(200.0, (WIDTH - 2 * MARGIN + space) / len(lines)) - space
    start = (WIDTH - len(lines) * (of_line + space) + space) / 2
    below = TOP + LANE_HEIGHT + GAP
    for order, line in enumerate(lines):
        left = start + order * (of_line + space)
        for part in range(LINE // SECTOR):
            kind = "used" if line * LINE // SECTOR + part in touched else "box"
            svg.rect(left + part * of_line / 4, below, of_line / 4, SECTOR_HEIGHT, kind)
        if len(lines) <= 16 or order % 4 == 0:
            svg.write(left, below + SECTOR_HEIGHT + 13, f"{line * LINE - base:,}", "tiny")
    for lane in range(32):
        x = MARGIN + lane * step
        svg.rect(x, TOP, step - 2, LANE_HEIGHT, "even" if lane in reached else "box")
        svg.write(x + step / 2 - 1, TOP + 11.5, str(lane), "tiny", "middle")
    for lane, address in sorted(reached.items()):
        order, inside = lines.index(address // LINE), (address % LINE + size / 2) / LINE
        to = start + order * (of_line + space) + inside * of_line
        svg.path("way", (MARGIN + lane * step + step / 2 - 1, TOP + LANE_HEIGHT), (to, below))
    svg.write(MARGIN, TOP - 6, "lanes", "tiny")
    named = "sectors of 32 bytes, in lines of 128; below, the byte at which a line begins"
    svg.write(MARGIN, below + SECTOR_HEIGHT + 28, named, "tiny")
    return svg.text()


def describe(reached: Mapping[int, int], size: int, touched: set[int], lines: int) -> str:
    needed = len({byte for address in reached.values() for byte in range(address, address + size)})
    share = 100 * needed / (SECTOR * len(touched))
    return (
        f"{len(reached)} lanes of {size} byte{'s' * (size > 1)}: {counted(len(touched), 'sector')} in "
        f"{counted(lines, 'line')}; {share:.3g} % of the bytes moved are asked for"
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
