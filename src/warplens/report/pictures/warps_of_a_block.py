"""How the threads of a block are cut into warps: x fastest, then y, then z; and in which of them lanes part."""

from __future__ import annotations

from collections.abc import Collection

from warplens.core.launch import Dim3
from warplens.report.pictures._svg import Svg

MARGIN, TOP, SPACE = 16, 62, 18
WIDEST = 800


def warps_of_a_block(
    block: Dim3, diverging: Collection[int] = (), off: Collection[int] = (), title: str = "Warps of a block"
) -> str:
    """The picture as SVG text: a cell a thread, slices of z side by side.

    block      threads in x, y and z;  diverging: warps in which some lanes go another way than others
    off        threads, numbered x first, that do not take part: drawn empty
    """
    x, y, z = block
    cell = max(5.0, min(26.0, ((WIDEST - 2 * MARGIN - (z - 1) * SPACE) / z) / x))
    wide, labels = cell >= 16, 14 if z > 1 else 0
    width = max(560.0, 2 * MARGIN + z * x * cell + (z - 1) * SPACE)
    svg = Svg(width, TOP + labels + y * cell + 30, title, describe(block, diverging, off))
    for thread in range(x * y * z):
        row, slice_ = thread // x % y, thread // (x * y)
        left = MARGIN + slice_ * (x * cell + SPACE) + thread % x * cell
        warp, above = thread // 32, TOP + labels + row * cell
        kind = "box" if thread in off else "marked" if warp in diverging else "odd" if warp % 2 else "even"
        svg.rect(left, above, cell - 1, cell - 1, kind, 1)
        if thread % 32 == 0 or (wide and thread % x == 0):
            svg.write(left + 2, above + min(cell - 2, 11), str(warp), "tiny")
    for slice_ in range(z if z > 1 else 0):
        svg.write(MARGIN + slice_ * (x * cell + SPACE), TOP + 6, f"z = {slice_}", "tiny")
    svg.write(MARGIN, TOP + labels + y * cell + 18, key(diverging, off), "tiny")
    return svg.text()


def describe(block: Dim3, diverging: Collection[int], off: Collection[int]) -> str:
    threads = block[0] * block[1] * block[2]
    warps = -(-threads // 32)
    said = f"{' x '.join(map(str, block))} threads: {warps} warp{'s' * (warps > 1)}"
    if threads % 32:
        said += f", the last with {threads % 32} threads"
    if diverging or off:
        said += f"; {len(diverging)} diverge{'s' * (len(diverging) == 1)}, {len(off)} threads are switched off"
    return said


def key(diverging: Collection[int], off: Collection[int]) -> str:
    said = "x to the right, y down; neighbouring warps in two shades, with their numbers"
    if diverging:
        said += "; orange: lanes part"
    return said + ("; empty: switched off" if off else "")
