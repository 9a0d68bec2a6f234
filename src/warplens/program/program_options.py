"""Program options: how a program is run."""

from __future__ import annotations

from dataclasses import dataclass, field

from warplens.emulator import DEFAULT_BUDGET
from warplens.machine import Machine
from warplens.program.launch_archive import LaunchArchive
from warplens.program.launch_selection import LaunchSelection
from warplens.program.saved_launch import SaveRequest


@dataclass(frozen=True)
class Options:
    """Options: how a program is run.

    gpus        how many there are;  real_time: the program's clocks stay real
    budget      instructions that a warp may execute;  memo: launches that repeat others are answered from memory
    selection   which launches are counted;  saves: which are written to files;  checks: of --check
    timeout     seconds after which the program is ended;  archive: where the first launch of each kernel and shape goes
    output      a file descriptor for what the program prints, which then reads nothing; None: ours
    """

    gpu: Machine
    gpus: int = 1
    real_time: bool = False
    budget: int = DEFAULT_BUDGET
    memo: bool = True
    selection: LaunchSelection = field(default_factory=LaunchSelection)
    timeout: float | None = None
    saves: tuple[SaveRequest, ...] = ()
    archive: LaunchArchive | None = None
    checks: tuple[str, ...] | None = None
    output: int | None = None
