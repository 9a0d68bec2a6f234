"""The kernels of planted.cu, and what is wrong with each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("planted.cu")
HEAD = re.compile(
    r"// (\w+); (\d+) x (\d+)(?:; n = (\d+))?(?:; shared = (\d+))?\nKERNEL\((\w+)\)", re.MULTILINE
)


@dataclass(frozen=True)
class Planted:
    """`truth` is memory, race, init, barrier or clean; the launch; n integers a buffer, shared bytes a block."""

    name: str
    truth: str
    grid: int
    block: int
    n: int
    shared: int


def planted() -> list[Planted]:
    return [
        Planted(name, truth, int(grid), int(block), int(n or 256), int(shared or 0))
        for truth, grid, block, n, shared, name in HEAD.findall(SOURCE.read_text("utf-8"))
    ]
