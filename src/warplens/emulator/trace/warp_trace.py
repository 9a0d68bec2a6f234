"""Warp trace: records the instructions that warps of chosen blocks issue, with the sectors they access."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import addressof
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from warplens.emulator.analysis.slicing import program_slice
from warplens.emulator.execute.cluster_memory import whole_clusters
from warplens.emulator.execute.grid import GridExecution, with_restarts
from warplens.emulator.execute.launch_request import LaunchRequest
from warplens.emulator.execute.outcome import FaultOutcome, Restart
from warplens.emulator.execute.setup import prepare, tile_of
from warplens.emulator.execute.tiering import TierPolicy
from warplens.emulator.instrument.warp_recorder import Log
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.state.check_set import RECORD, Checks
from warplens.emulator.state.structs import WorkerEnv
from warplens.sass.block_queue import polls_other_blocks, waiting_loads

LOG_WORDS = 1 << 26  # of 4 bytes; only written ones take memory


@dataclass(frozen=True)
class WarpTraces:
    """blocks   recorded, by number;  words: the log (trace_format.py);  whole: whether all of it fitted"""

    blocks: tuple[int, ...]
    words: NDArray[np.uint32]
    whole: bool


def record(
    request: LaunchRequest, blocks: tuple[int, ...], *, at_once: int = 0, log_words: int = LOG_WORDS,
    how: Checks = RECORD,
) -> WarpTraces:  # fmt: skip
    """Runs and records only these blocks, one after the other.

    Where blocks share their work or wait for each other, all are run and only these are recorded: of a cooperative
    launch, of code with a loop that waits, and of at most `at_once` blocks with a work queue (sass/block_queue.py); of
    a cluster all blocks run.

    how   RECORD for the model of time, LANES for the addresses of every lane (lane_trace.py)

    KernelFault as for run(), also if a block waits for one that is not run.
    """
    launch, memory, program = request.launch, request.memory, request.program
    together = (
        launch.cooperative or bool(waiting_loads(program)) or (launch.blocks <= at_once and polls_other_blocks(program))
    )
    cluster = request.kernel.cluster
    numbers = range(launch.blocks) if together else whole_clusters(blocks, launch.grid, cluster)
    if how == RECORD:
        slim = program_slice(request.kernel, program)
        request, how = replace(request, program=slim.program), slim.checks
    kept = len(memory.allocations)
    state, heap = prepare(request, how)
    words = np.empty(log_words, np.uint32)
    try:
        tiers = TierPolicy(request.kernel, request.program, tile_of(launch), how)

        def attempt(tiers: TierPolicy, code: NativeCode, on_this_thread: bool) -> Log | Restart:
            grid = GridExecution(tiers, code, state, memory, heap, on_this_thread=on_this_thread)
            return _run(grid, blocks, words, numbers)

        log = with_restarts(tiers, attempt)
    finally:
        del memory.allocations[kept:]
        memory.undo()
        memory.release()
    return WarpTraces(blocks, words[: min(log.used, log_words)], log.used <= log_words)


def _run(
    grid: GridExecution, blocks: tuple[int, ...], words: NDArray[np.uint32], numbers: Sequence[int]
) -> Log | Restart:  # fmt: skip
    log, nowhere = Log(words.ctypes.data, 0, words.size), Log(words.ctypes.data, 0, 0)
    recorded = frozenset(blocks)
    grid.memory.fill()
    with grid.memory_held():
        worker = grid.worker()

        def select_log(env: WorkerEnv, number: int) -> None:
            env.log = addressof(log if number in recorded else nowhere)

        worker.listener = select_log
        outcome = grid.run_listed(worker, numbers)
        if isinstance(outcome, FaultOutcome):
            raise grid.error_of(outcome)
    return outcome if isinstance(outcome, Restart) else log
