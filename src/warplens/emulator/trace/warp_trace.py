"""What each warp of some blocks issues, instruction by instruction, with the sectors that its accesses reach."""

from __future__ import annotations

from ctypes import addressof
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator.analysis.slicing import program_slice
from warplens.emulator.execute.grid import DEFAULT_BUDGET, GridExecution, with_code
from warplens.emulator.execute.setup import prepare, tile_of
from warplens.emulator.execute.tiering import TierPolicy
from warplens.emulator.instrument.warp_recorder import Log
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.check_set import RECORD, Checks
from warplens.emulator.state.structs import Status, WorkerEnv
from warplens.sass.block_queue import polls_other_blocks, waiting_loads

ROOM = 1 << 26  # words of 4 bytes, of which only those that are written take memory


@dataclass(frozen=True)
class WarpTraces:
    """blocks   that were run, by number;  words: the log (trace_format.py);  whole: whether it had room for all"""

    blocks: tuple[int, ...]
    words: NDArray[np.uint32]
    whole: bool


def record(
    kernel: Kernel, program: Program, launch: Launch, parameters: bytes, memory: DeviceMemory,
    blocks: tuple[int, ...], *, banks: dict[int, bytes] | None = None, multiprocessors: int = 132,
    at_once: int = 0, room: int = ROOM, budget: int = DEFAULT_BUDGET, how: Checks = RECORD,
) -> WarpTraces:  # fmt: skip
    """Runs these blocks, one after the other, and no others.  Where blocks share their work or wait for each other all
    are run, and these are listened to: of a cooperative launch, of code with a loop that waits, and of no more than
    `at_once` that ask (sharing.py).

    how   RECORD for what prices a launch, LANES for the addresses of every lane (lane_trace.py)

    KernelFault as of run(), also where a block waits for one that is not run.
    """
    together = (
        launch.cooperative or bool(waiting_loads(program)) or (launch.blocks <= at_once and polls_other_blocks(program))
    )
    if how == RECORD:
        slim = program_slice(kernel, program)
        program, how = slim.program, slim.checks
    kept = len(memory.allocations)
    shape, heap = prepare(kernel, program, launch, parameters, memory, banks, multiprocessors, budget, how)
    words = np.empty(room, np.uint32)
    try:
        tiers = TierPolicy(kernel, program, tile_of(launch), how)

        def execute(tiers: TierPolicy, code: NativeCode, here: bool) -> Log:
            return _run(GridExecution(tiers, code, shape, memory, None, heap, here), blocks, words, together)

        log = with_code(tiers, execute)
    finally:
        del memory.allocations[kept:]
        memory.undo()
        memory.release()
    return WarpTraces(blocks, words[: min(log.used, room)], log.used <= room)


def _run(grid: GridExecution, blocks: tuple[int, ...], words: NDArray[np.uint32], together: bool) -> Log:
    log, nowhere = Log(words.ctypes.data, 0, words.size), Log(words.ctypes.data, 0, 0)
    heard = frozenset(blocks)
    grid.memory.fill()
    with grid.memory_held():
        worker = grid.worker()

        def listens(env: WorkerEnv, number: int) -> None:
            env.log = addressof(log if number in heard else nowhere)

        worker.listens = listens
        status = grid.some(worker, range(grid.blocks) if together else blocks)
    assert status is Status.DONE  # a fault has been raised
    return log
