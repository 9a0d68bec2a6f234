"""Grid: run() executes every block of a launch on the CPU and counts it.

Blocks run in parallel where their order cannot matter; the counts never depend on the number of threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import addressof
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from warplens.core.counts import MANY_BLOCKS
from warplens.emulator.analysis.order_dependence import dependence
from warplens.emulator.execute import syscalls
from warplens.emulator.execute.deadlock_report import format_hang
from warplens.emulator.execute.fault_report import format_fault
from warplens.emulator.execute.grid_result import GridResult, merged_use, total_of
from warplens.emulator.execute.grid_sample import Sample, sample_of
from warplens.emulator.execute.launch_counts import LaunchTrace
from warplens.emulator.execute.launch_request import LaunchRequest
from warplens.emulator.execute.launch_state import LaunchState
from warplens.emulator.execute.outcome import FaultOutcome, Finished, Outcome, Restart
from warplens.emulator.execute.setup import Heap, prepare, tile_of
from warplens.emulator.execute.tiering import TierPolicy
from warplens.emulator.execute.worker import Worker, commutes, updated_in_place
from warplens.emulator.execute.worker_driver import Chunk, Progress, WorkerDriver
from warplens.emulator.execute.worker_state import MAX_POOLED_BYTES
from warplens.emulator.instrument.footprint_map import FootprintMap, can_be_mapped, conflict
from warplens.emulator.instrument.global_race_detector import GlobalMemory
from warplens.emulator.instrument.hazard_report import format_found, hazards
from warplens.emulator.instrument.instrumentation import unit
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.memory.buffer_pool import address
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.check_set import NO_CHECKS, UNCOUNTED, Checks, with_asynchronous
from warplens.emulator.state.structs import FaultKind, Touch
from warplens.errors import KernelFault, TimeLimitReached, UsageError

T = TypeVar("T")
# Starting another thread and joining it takes 1 ms, so two threads do not pay where one has less work left than
# MIN_PARALLEL_SECONDS.  Work left is estimated from a probe chunk of at least PROBE_SECONDS: starting a chunk takes
# 0.04 ms.  Each chunk has CHUNK_GROWTH times the blocks of all before it.
MIN_PARALLEL_SECONDS, PROBE_SECONDS, CHUNK_GROWTH = 0.003, 0.0003, 3
LONG_STEP = 10  # warp instructions to a long step, at most: ending a time slice takes as long as 15 instructions
WAITING_FACTOR = 8  # a block that waits for others is assumed to take so many times what it has executed
INSTRUCTIONS_PER_COPIED_BYTE = 1  # a warp instruction takes as long as copying ten bytes


def available_threads() -> int:
    """Processors that this process may use, or WARPLENS_THREADS.  UsageError if that is no number."""
    chosen = os.environ.get("WARPLENS_THREADS", "")
    if chosen and not (chosen.isdecimal() and int(chosen)):
        raise UsageError(f"WARPLENS_THREADS = {chosen!r}: give a whole number from 1, or leave it unset")
    return int(chosen) if chosen else len(os.sched_getaffinity(0))


def run(
    request: LaunchRequest, *, threads: int | None = None, progress: Progress | None = None,
    checks: Checks = NO_CHECKS, sample: int | None = None, counted: bool = True,
) -> LaunchTrace:  # fmt: skip
    """Executes every block, or a sample of so many; the request's memory holds the results afterwards.

    counted   False: only the executions of basic blocks are counted, by a translation that takes less time
    KernelFault if the kernel faults; the memory then holds what was written before the fault.
    """
    started = time.perf_counter()
    kernel, program, launch, memory = request.kernel, request.program, request.launch, request.memory
    checks = with_asynchronous(checks, program)
    chosen = None if sample is None else sample_of(launch, sample, kernel.cluster_blocks)
    state, heap = prepare(request, checks)
    # Accesses to global memory are recorded in the order in which one thread runs them.
    count = 1 if "races" in checks else threads or available_threads()

    attempts: list[GridExecution] = []

    def run_blocks(tiers: TierPolicy, code: NativeCode, on_this_thread: bool) -> GridResult | Restart:
        attempts[:] = [GridExecution(tiers, code, state, memory, heap, progress, on_this_thread)]
        return attempts[0].run(count, chosen)

    tiers = TierPolicy(kernel, program, tile_of(launch), checks if counted else checks | UNCOUNTED)
    try:
        result = with_restarts(tiers, run_blocks)
    except TimeLimitReached as limit:  # also one reached in compiling for the next attempt
        limit.place = attempts[0].hottest_place if attempts else ""
        raise
    seconds = time.perf_counter() - started
    tiers.ended(seconds)
    found = result.hazards(program, launch, memory, checks) if checks else ()
    depends = partial(dependence, kernel, program, launch.blocks * launch.warps_per_block)
    return LaunchTrace(
        launch, result.counts, result.blocks, seconds, found, result.printed, depends, result.executed,
        result.longest, result.block_instructions, result.driver_calls, counted,
    )  # fmt: skip


def with_restarts(tiers: TierPolicy, attempt: Callable[[TierPolicy, NativeCode, bool], T | Restart]) -> T:
    """The result of the first attempt that completes; on this thread (True) until a signal arrives."""
    code, on_this_thread = tiers.initial(), True
    while isinstance(outcome := attempt(tiers, code, on_this_thread), Restart):
        match outcome:
            case Restart.TIER_UP:
                code = tiers.compiled()
            case Restart.INDEX_WRAPPED:
                tiers = replace(tiers, tile=0)
                code = tiers.compiled()
            case Restart.LANES_CROSSED:
                tiers = tiers.with_crossed_lanes()
                code = tiers.initial()
            case Restart.SIGNALLED:
                on_this_thread = False
    return outcome


class GridExecution:
    """Grid execution: one attempt at all blocks of a launch: assigns blocks to workers, in order."""

    def __init__(
        self, tiers: TierPolicy, code: NativeCode, state: LaunchState, memory: DeviceMemory, heap: Heap,
        progress: Progress | None = None, on_this_thread: bool = True,
    ) -> None:  # fmt: skip
        """`code` runs the first block; on_this_thread: whether one worker may run on the calling thread."""
        self.tiers, self.code = tiers, code
        self.state, self.memory, self.heap = state, memory, heap
        self.blocks = state.launch.blocks
        self.driver = WorkerDriver(tiers, state, progress, self.blocks, on_this_thread)
        self.races: GlobalMemory | None = None
        if "races" in state.configuration.checks:
            step = unit(state.plan.program)
            self.races = GlobalMemory(memory, state.launch, step, heap and heap[0])
        self._workers: list[Worker] = []
        self.block_instructions = np.zeros(self.blocks if self.blocks < MANY_BLOCKS else 0, np.int64)
        self.hottest_place = ""  # "copy.cu:40", of an attempt that did not complete

    def run(self, threads: int, sample: Sample | None = None) -> GridResult | Restart:
        """All blocks, or a sample whose counts are scaled to the grid.  Raises a fault of the kernel."""
        with self.memory_held():
            try:
                outcome = self._run_grid(threads) if sample is None else self._run_sample(threads, sample)
                if isinstance(outcome, FaultOutcome):
                    raise self.error_of(outcome, sample)
            except TimeLimitReached:
                self.hottest_place = self._most_executed()
                raise
            if isinstance(outcome, Restart):
                self.hottest_place = self._most_executed()
                return outcome
            return self._collect(outcome.workers, sample)

    # Which blocks, in which order

    def _run_grid(self, threads: int) -> Outcome:
        """Every block.  The first one shows how the kernel uses its buffers.

        If the order of blocks could matter, one thread runs them in order of their number; if that is found only
        later, all are run again in order.
        """
        self.memory.fill(threads, lent=True)
        first = self.worker()
        outcome = self.drive([first], [(0, 1)], finish=self.blocks == 1)
        if self.blocks == 1 or not isinstance(outcome, Finished):
            return outcome
        self._tier_up(first, self.blocks - 1, threads)
        self._copy_often_read_arrays(first)
        # A kernel that prints waits for Python most of the time: threads would block each other.
        several = self.blocks > 2 and first.clusters is None and not first.driver.printed
        free = several and commutes(first.touched())
        interleaved = free and self._prefers_interleaving(first)
        updated = self._updated_in_place(first) if several and threads > 1 and not free else []
        if not (interleaved or (free and threads > 1) or updated):
            return self.drive([first], [(1, self.blocks - 1)])
        if updated:
            outcome, in_order = self._run_in_place(first, threads, updated)
        else:
            outcome = self._run_in_any_order(first, threads, interleaved)
            in_order = isinstance(outcome, Finished) and commutes(merged_use(outcome.workers))
        if in_order or isinstance(outcome, Restart) or (isinstance(outcome, FaultOutcome) and outcome.worker):
            return outcome
        self._release(list(self._workers))
        self.memory.fill(threads, lent=True)
        self.block_instructions[:] = 0
        return self.drive([self.worker()], [(0, self.blocks)])

    def _run_in_any_order(self, first: Worker, threads: int, interleaved: bool) -> Outcome:
        """Blocks in any order, on more threads if that pays."""
        if interleaved:
            first.interleave_warps()
        outcome, begun = self._probe(first, threads, MIN_PARALLEL_SECONDS)
        if begun == self.blocks or not isinstance(outcome, Finished):
            return outcome
        others = [self.worker() for _ in range(threads - 1)]
        for worker in others if interleaved else ():
            worker.interleave_warps()
        return self.drive([first, *others], self._chunks(begun, threads))

    def _probe(self, first: Worker, threads: int, least: float) -> tuple[Outcome, int]:
        """One worker runs growing chunks until so many seconds of work seem to be left; how many blocks have begun."""
        begun, left = 1, 0.0
        outcome: Outcome = Finished((first,))
        while begun < self.blocks and (threads == 1 or left < least) and isinstance(outcome, Finished):
            rest = self.blocks - begun
            size = rest if threads == 1 else min(CHUNK_GROWTH * begun, rest)
            start = time.perf_counter()
            outcome = self.drive([first], [(begun, size)], finish=size == rest)
            seconds = time.perf_counter() - start
            begun += size
            left = seconds / size * (rest - size) if seconds > PROBE_SECONDS else 0.0
        return outcome, begun

    def _updated_in_place(self, first: Worker) -> list[int]:
        """The buffers that blocks load and store, if several threads may try whether the blocks are independent.  What
        malloc returns in a kernel depends on the order of blocks."""
        state = self.state
        if state.configuration.checks or state.calls or first.waiting:
            return []
        if not (self.tiers.may_map and can_be_mapped(state.plan.program)):
            return []
        return updated_in_place(first.touched())

    def _run_in_place(self, first: Worker, threads: int, updated: Sequence[int]) -> tuple[Outcome, bool]:
        """Several threads, if that pays; and whether memory is as blocks in order would have left it."""
        outcome, begun = self._probe(first, threads, self.tiers.mapping_seconds(threads))
        if begun == self.blocks or not isinstance(outcome, Finished):
            return outcome, isinstance(outcome, Finished)
        usual, self.code = self.code, self.tiers.with_footprint()
        workers = [first, *(self.worker() for _ in range(threads - 1))]
        allocations = [self.memory.allocations[number] for number in updated]
        maps = [FootprintMap(worker.env, allocations) for worker in workers]
        outcome = self.drive(workers, self._chunks(begun, threads))
        as_expected = updated_in_place(merged_use(workers)) == updated
        independent = isinstance(outcome, Finished) and as_expected and not conflict(maps, allocations)
        if not independent:
            self.code = usual  # the other marks maps, which are gone
        if not independent and not isinstance(outcome, Restart):
            self.tiers.blocks_depend()
        return outcome, independent

    def _run_sample(self, threads: int, sample: Sample) -> Outcome:
        """Runs a sample: the first worker the ends of the grid, the others the rest."""
        self.blocks = self.driver.blocks = sample.size
        self.memory.fill(threads, lent=True)
        ends, chunks = self.worker(), [sample.chunk(number) for number in sample.inner]
        outcome = self.drive([ends], [sample.chunk(0)])
        if not isinstance(outcome, Finished):
            return outcome
        self._tier_up(ends, sample.size - 1, threads)
        several = threads > 1 and ends.clusters is None and commutes(ends.touched()) and not ends.driver.printed
        inner = [self.worker() for _ in range(threads if several else 1)]
        outcome = self.drive(inner, chunks)
        if isinstance(outcome, Restart):
            return outcome
        if several and not (isinstance(outcome, Finished) and commutes(merged_use([ends, *inner]))):
            self._release([ends, *inner])
            return self._run_sample(1, sample)
        if isinstance(outcome, Finished):
            outcome = self.drive([ends], [sample.chunk(sample.last)])
        return Finished((ends, *inner)) if isinstance(outcome, Finished) else outcome

    def run_listed(self, worker: Worker, blocks: Sequence[int]) -> Outcome:
        """These blocks, one after the other; those that wait for others take time slices."""
        first, *rest = ((block, 1) for block in blocks)
        outcome = self.drive([worker], [first], finish=not rest)
        if rest and isinstance(outcome, Finished):
            self._tier_up(worker, len(rest), 1)
            outcome = self.drive([worker], rest)
        return outcome

    def drive(self, workers: list[Worker], chunks: list[Chunk], finish: bool = True) -> Outcome:
        return self.driver.drive(self.code, workers, chunks, finish)

    def _chunks(self, first: int, threads: int) -> list[Chunk]:
        """Guided schedule: large chunks first (few synchronizations), then small ones (threads finish together)."""
        least = max(1, self.blocks // (256 * threads))
        chunks = []
        while first < self.blocks:
            size = min(max((self.blocks - first) // (4 * threads), least), self.blocks - first)
            chunks.append((first, size))
            first += size
        return chunks

    # What the first block shows

    def _tier_up(self, first: Worker, blocks: int, threads: int) -> None:
        """Switches the blocks not yet started to compiled code if that pays."""
        if self.code.places is not None:
            work = self.state.plan.executed(first.counters) * (WAITING_FACTOR if first.waiting else 1)
            self.code = self.tiers.tier_up(self.code, work, work * blocks, threads)

    def _copy_often_read_arrays(self, first: Worker) -> None:
        """Arrays that are misaligned in the host's memory are copied if the first block shows that this will pay."""
        only_read = np.flatnonzero(first.touched() == Touch.READ).tolist()
        read = [n for n in only_read if n not in self.memory.own]
        if not read:
            return
        instructions = self.blocks * self.state.plan.executed(first.counters)
        if instructions < INSTRUCTIONS_PER_COPIED_BYTE * sum(self.memory.allocations[n].size for n in read):
            return
        for number in read:
            if self.memory.bring(number):
                first.update_buffer(number)

    def _prefers_interleaving(self, first: Worker) -> bool:
        """Whether to interleave warps, by the first block: their loops go through memory in long steps, and
        they synchronize only there."""
        configuration = self.state.configuration
        if self.code.run_interleaved is None or configuration.shared_bytes or configuration.checks or self.state.calls:
            return False
        small = 2 * first.context.size <= MAX_POOLED_BYTES
        return small and LONG_STEP * first.env.far > self.state.plan.executed(first.counters)

    # Workers and their results

    def worker(self) -> Worker:
        made = Worker(self.state, self.memory, self.heap)
        made.env.block_instructions = address(self.block_instructions) if self.block_instructions.size else 0
        if self.races:
            made.env.races = addressof(self.races.record)
        self._workers.append(made)
        return made

    @contextmanager
    def memory_held(self) -> Iterator[None]:
        """Context manager: on exit, whatever has happened, no worker references the launch's memory."""
        try:
            yield
        finally:
            self._release(list(self._workers))

    def _release(self, workers: list[Worker]) -> None:
        for worker in workers:
            self._workers.remove(worker)
            worker.release()

    def _collect(self, workers: Sequence[Worker], sample: Sample | None) -> GridResult:
        """Records which buffers were read and written; sums the counters."""
        touched = merged_use(workers)
        self.memory.written = frozenset(np.flatnonzero(touched & ~np.uint64(Touch.READ)).tolist())
        self.memory.read = frozenset(np.flatnonzero(touched & ~np.uint64(Touch.WRITE)).tolist())
        plan = self.state.plan
        if sample is None:
            total = total_of(workers)
            read, executed = partial(plan.read, total, self.code.weights), partial(plan.executed_by_block, total)
            return GridResult(read, executed, self.blocks, workers, self.races, self.block_instructions)
        of_ends = partial(plan.read, total_of(workers[:1]), self.code.weights)
        of_inner = partial(plan.read, total_of(workers[1:]), self.code.weights)
        first = [block.first for block in plan.program.blocks]

        def scaled() -> dict[str, Any]:
            return sample.scaled(of_ends(), of_inner())

        return GridResult(
            scaled, lambda: np.add.reduceat(scaled()["executed"], first), self.blocks, workers, self.races
        )  # fmt: skip

    def _most_executed(self) -> str:
        """The source line of the basic block that has executed most instructions, "" if it has none."""
        plan = self.state.plan
        if not self._workers:
            return ""
        block = plan.program.blocks[int(plan.executed_by_block(total_of(self._workers)).argmax())]
        code = plan.program.instructions[block.first : block.last + 1]
        return next((f"{found.source.file}:{found.source.line}" for found in code if found.source), "")

    def error_of(self, fault: FaultOutcome, sample: Sample | None = None) -> BaseException:
        """The exception for a fault, with the output up to it.  Memory stays as at the fault."""
        worker = fault.worker
        assert worker is not None  # found in block order
        error = worker.driver.error
        if error is None:
            self.memory.written = frozenset(range(len(self.memory.allocations)))
            state, program = self.state, self.state.plan.program
            hung = ""
            if worker.env.fault.kind in (FaultKind.DEADLOCK, FaultKind.BUDGET):
                block, warps = worker.hung()
                checks = state.configuration.checks
                if hung := format_hang(worker.env.fault, block, warps, program):
                    hung += format_found(hazards([worker.findings], program, state.launch, self.memory, checks))
            budget, message = state.configuration.budget, worker.driver.fault
            error = format_fault(worker.env, program, state.launch, self.memory, budget, hung, message)
            error.printed, error.kind = syscalls.output([worker.driver]), FaultKind(worker.env.fault.kind).name
        if sample and isinstance(error, KernelFault):
            ran = f"only {sample.size:,} of {sample.blocks:,} blocks were run"
            error.args = (f"{error}\n  {ran}: those that wait for others need them all",)
        return error
