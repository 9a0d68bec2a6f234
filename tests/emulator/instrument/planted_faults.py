"""The kernels of planted_faults.cu, and what is wrong with each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("planted_faults.cu")
HEAD = re.compile(r"// (\w+); (\d+) x (\d+)(?:; n = (\d+))?(?:; shared = (\d+))?\nKERNEL\((\w+)\)", re.MULTILINE)

# What warplens says of them where it is not what was planted; test_race_detector.py holds it to that.
NOT_FOUND = {
    "shared_into_the_neighbour",  # inside the block's shared memory: nothing in the machine code tells arrays apart
    "global_never_written",  # every buffer starts with what the host gave it
    "one_warp_of_two",  # the other warp has ended, which is legal: a note
    "loops_of_different_length",  # likewise
}
FAULTS = {  # the run stops
    "waits_for_nobody", "two_barriers_crossed", "syncwarp_of_others",
}  # fmt: skip
ALARMS = {"clean_lock"}  # order through atomics is not followed, as racecheck does not
ALSO_RACES = {"shared_of_the_block_before"}  # both blocks write their different findings to one place
CHECK_OF = {"race": "races", "init": "init", "barrier": "barriers"}


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
