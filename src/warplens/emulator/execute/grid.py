"""run(): a launch on the CPU, every block of it, counted.

Blocks run in parallel where their order cannot matter; what a kernel counts never depends on the number of threads.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import addressof
from functools import partial
from math import inf
from typing import Any, TypeVar

from warplens.core.counts import Counts
from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.emulator.analysis.order_dependence import dependence
from warplens.emulator.execute import syscalls
from warplens.emulator.execute.deadlock_report import told
from warplens.emulator.execute.fault_report import report
from warplens.emulator.execute.grid_sample import Sample, sample_of
from warplens.emulator.execute.launch_counts import LaunchTrace
from warplens.emulator.execute.launch_state import LaunchState
from warplens.emulator.execute.setup import Heap, prepare, tile_of
from warplens.emulator.execute.signals import SignalledError, stopped_by_signals
from warplens.emulator.execute.thread_pool import StartedTask
from warplens.emulator.execute.tiering import CrossedError, IndexWrappedError, TierPolicy, TooLongError
from warplens.emulator.execute.worker import Worker, in_any_order
from warplens.emulator.execute.worker_state import MOST_BYTES
from warplens.emulator.instrument.findings import FindingTable, hazards, unwatched
from warplens.emulator.instrument.global_race_detector import GlobalMemory
from warplens.emulator.instrument.instrumentation import unit
from warplens.emulator.jit.native_code import NativeCode
from warplens.emulator.memory.device_memory import DeviceMemory
from warplens.emulator.state.check_set import NO_CHECKS, Checks
from warplens.emulator.state.structs import FaultKind, Status, Touch
from warplens.errors import KernelFault, UsageError

T = TypeVar("T")
Progress = Callable[[int, int], None]
DEFAULT_BUDGET = 1_000_000_000  # warp instructions a warp may execute: some seconds here, a second on a GPU
POLL_SECONDS = 0.05
WAKE_SECONDS = 0.5  # a signal that the system gave to another thread waits until this one wakes
FAR = 10  # warp instructions to a long step, at most: ending a turn takes as long as 15 instructions
# To hand over to another thread and to come together again takes 1 ms, so that two lose where one has less left than
# PAYS (seconds).  What is left is told by a piece that takes TOLD: to begin one takes 0.04 ms.  Each has so many times
# the blocks of all before it.
PAYS, TOLD, PIECES = 0.003, 0.0003, 3
BEGUN = 8  # times as much as it has done is a block taken to do that waits for others
OFTEN = 1  # warp instructions a byte: one takes as long as to copy ten bytes


def available_threads() -> int:
    """Processors that this process may use; WARPLENS_THREADS says otherwise.  UsageError if it is no number."""
    chosen = os.environ.get("WARPLENS_THREADS", "")
    if chosen and not (chosen.isdecimal() and int(chosen)):
        raise UsageError(f"WARPLENS_THREADS = {chosen!r}: give a whole number from 1, or leave it unset")
    return int(chosen) if chosen else len(os.sched_getaffinity(0))


def run(
    kernel: Kernel,
    program: Program,
    launch: Launch,
    parameters: bytes,
    memory: DeviceMemory,
    *,
    banks: dict[int, bytes] | None = None,
    multiprocessors: int = 132,
    threads: int | None = None,
    budget: int = DEFAULT_BUDGET,
    progress: Progress | None = None,
    checks: Checks = NO_CHECKS,
    sample: int | None = None,
) -> LaunchTrace:
    """Executes every block, or a sample of so many; `memory` holds the results afterwards.

    KernelFault if the kernel does something wrong; `memory` then holds what was written before.
    """
    started = time.perf_counter()
    chosen = None if sample is None else sample_of(launch, sample, kernel.cluster_blocks)
    shape, heap = prepare(kernel, program, launch, parameters, memory, banks, multiprocessors, budget, checks)
    # Accesses to global memory are noted in the order in which one thread runs them.
    crew = 1 if "races" in checks else threads or available_threads()
    tiers = TierPolicy(kernel, program, tile_of(launch), checks)

    def execute(tiers: TierPolicy, code: NativeCode, here: bool) -> tuple[GridExecution, Callable[[], dict[str, Any]]]:
        grid = GridExecution(tiers, code, shape, memory, progress, heap, here)
        with grid.memory_held():
            return grid, grid.run(crew, chosen)

    grid, counts = with_code(tiers, execute)
    seconds = time.perf_counter() - started
    found = hazards(grid.findings, program, launch, memory) if checks else ()
    if grid.races and grid.races.unwatched:
        found += (unwatched(grid.races.unwatched),)
    depends = partial(dependence, kernel, program, launch.blocks * launch.warps_per_block)
    return LaunchTrace(launch, counts, grid.blocks, seconds, found, grid.printed, depends)


def with_code(tiers: TierPolicy, execute: Callable[[TierPolicy, NativeCode, bool], T]) -> T:
    """What it gives with the first code that gets to the end, on this thread (True) until a signal comes."""
    code, here = tiers.first(), True
    while True:
        try:
            return execute(tiers, code, here)
        except TooLongError:
            code = tiers.whole()
        except IndexWrappedError:
            code = tiers.whole(tile=0)
        except CrossedError:
            tiers = tiers.crossed()
            code = tiers.first()
        except SignalledError:
            here = False


class GridExecution:
    """All blocks of one launch."""

    def __init__(
        self, tiers: TierPolicy, code: NativeCode, shape: LaunchState, memory: DeviceMemory, progress: Progress | None,
        heap: Heap, here: bool,
    ) -> None:  # fmt: skip
        """`code` is what it begins with; here: whether one worker may run on this thread."""
        self.here = here and progress is None
        self.tiers, self.code = tiers, code
        self.shape, self.memory, self.progress, self.heap = shape, memory, progress, heap
        self.started = time.perf_counter()
        self.blocks = shape.launch.blocks
        self.findings: list[FindingTable] = []
        self.races: GlobalMemory | None = None
        if "races" in shape.measure.checks:
            step = unit(shape.plan.program)
            self.races = GlobalMemory(memory, shape.launch, step, heap and heap[0])
        self.printed = ""
        self._workers: list[Worker] = []

    def run(self, threads: int, sample: Sample | None = None) -> Callable[[], dict[str, Any]]:
        """What reads the counters of the launch, an array of each kind; of a sample they are scaled to the grid."""
        if sample is None:
            workers = self._all(threads)
            self._note_use(workers)
            return self._counted(workers)
        self.blocks = sample.size
        try:
            ends, inner = self._some(threads, sample)
        except KernelFault as fault:
            told = f"only {sample.size:,} of {sample.blocks:,} blocks were run"
            fault.args = (f"{fault}\n  {told}: those that wait for others need them all",)
            raise
        self._note_use([*ends, *inner])
        of_ends, of_inner = self._counted(ends), self._counted(inner)
        return lambda: sample.scaled(of_ends(), of_inner())

    def _all(self, threads: int) -> list[Worker]:
        """Every block of the grid.

        The first block shows how the kernel uses its buffers.  Where order could matter, one thread runs the blocks
        in order of their number; where that shows only later, everything is run again so.
        """
        self.memory.fill(threads, lent=True)
        first = self.worker()
        self.drive([first], [(0, 1)], finish=self.blocks == 1)
        self._go_on_faster(first, self.blocks - 1, threads)
        self._bring_what_is_read_often(first)
        # Who prints much waits for Python most of the time, and threads for each other.
        free = self.blocks > 2 and first.clusters is None and not first.driver.printed
        free = free and in_any_order(first.touched())
        abreast = free and self._goes_far(first)
        if abreast or (free and threads > 1):
            workers, begun, status = self._begin_alone(first, threads, abreast)
            if status is Status.DONE and begun < self.blocks:
                workers += [self.worker() for _ in range(threads - 1)]
                for worker in workers[1:] if abreast else ():
                    worker.go_abreast()
                status = self.drive(workers, self._chunks(begun, threads))
            used = together(workers)
            if status is Status.DONE and in_any_order(used):
                return workers
            self._leave(workers)
            self.memory.fill(threads, lent=True)
            first = self.worker()
            self.drive([first], [(0, self.blocks)])
        elif self.blocks > 1:
            self.drive([first], [(1, self.blocks - 1)])
        return [first]

    def _begin_alone(self, first: Worker, threads: int, abreast: bool) -> tuple[list[Worker], int, Status]:
        """One worker goes on, with pieces that grow, until it is seen that it pays to ask others: how many blocks
        have begun then."""
        if abreast:
            first.go_abreast()
        begun, status, left = 1, Status.DONE, 0.0
        while begun < self.blocks and status is Status.DONE and (threads == 1 or left < PAYS):
            rest = self.blocks - begun
            size = rest if threads == 1 else min(PIECES * begun, rest)
            start = time.perf_counter()
            status = self.drive([first], [(begun, size)], finish=size == rest)
            seconds = time.perf_counter() - start
            begun += size
            left = seconds / size * (rest - size) if seconds > TOLD else 0.0
        return [first], begun, status

    def _go_on_faster(self, first: Worker, blocks: int, threads: int) -> None:
        """The blocks that follow the first run with other code if that pays.  Those that have begun cannot."""
        if self.code.places is not None:
            work = self.shape.plan.executed(first.counters) * (BEGUN if first.waiting else 1)
            self.code = self.tiers.faster(self.code, work, work * blocks, threads)

    def _bring_what_is_read_often(self, first: Worker) -> None:
        """Arrays that lie badly where the host has them are copied if the first block says that this will pay."""
        read = [n for n, used in enumerate(first.touched()) if used == Touch.READ and n not in self.memory.own]
        if not read:
            return
        instructions = self.blocks * self.shape.plan.executed(first.counters)
        if instructions < OFTEN * sum(self.memory.allocations[n].size for n in read):
            return
        for number in read:
            if self.memory.bring(number):
                first.look_again(number)

    def _goes_far(self, first: Worker) -> bool:
        """Whether warps had better go abreast, by the first block: their loops go through memory in long steps, and
        they meet only there."""
        measure = self.shape.measure
        if self.code.run_abreast is None or measure.shared_bytes or measure.checks or self.shape.calls:
            return False
        small = 2 * first.context.size <= MOST_BYTES
        return small and FAR * first.env.far > self.shape.plan.executed(first.counters)

    def some(self, worker: Worker, blocks: Sequence[int]) -> Status:
        """These blocks, one after the other; those that wait for others take turns."""
        first, *rest = ((block, 1) for block in blocks)
        status = self.drive([worker], [first], finish=not rest)
        if rest:
            self._go_on_faster(worker, len(rest), 1)
            status = self.drive([worker], rest)
        return status

    def _some(self, threads: int, sample: Sample) -> tuple[list[Worker], list[Worker]]:
        """The blocks of a sample, in the same manner: workers for the ends of the grid, and for what lies between."""
        self.memory.fill(threads, lent=True)
        ends, shares = self.worker(), [(block, 1) for block in sample.inner]
        self.drive([ends], [(0, 1)])
        self._go_on_faster(ends, sample.size - 1, threads)
        several = threads > 1 and in_any_order(ends.touched()) and not ends.driver.printed
        inner = [self.worker() for _ in range(threads if several else 1)]
        status = self.drive(inner, shares)
        used = together([ends, *inner])
        if several and not (status is Status.DONE and in_any_order(used)):
            self._leave([ends, *inner])
            return self._some(1, sample)
        self.drive([ends], [(sample.blocks - 1, 1)])
        return [ends], inner

    def worker(self) -> Worker:
        made = Worker(self.shape, self.memory, self.heap)
        made.env.races = addressof(self.races.record) if self.races else 0
        self._workers.append(made)
        return made

    @contextmanager
    def memory_held(self) -> Iterator[None]:
        """Behind it, whatever has happened, no worker holds the memory of the launch any longer."""
        try:
            yield
        finally:
            self._leave(list(self._workers))

    def _leave(self, workers: list[Worker]) -> None:
        for worker in workers:
            self._workers.remove(worker)
            worker.leave()

    def _note_use(self, workers: list[Worker]) -> None:
        """Which buffers were written, what was found and what was printed."""
        touched = together(workers)
        self.findings = [w.findings for w in workers]
        self.memory.written = frozenset(n for n, bits in enumerate(touched) if bits & ~Touch.READ)
        self.memory.read = frozenset(n for n, bits in enumerate(touched) if bits & ~Touch.WRITE)
        self.printed = syscalls.output([w.driver for w in workers])

    def _counted(self, workers: list[Worker]) -> Callable[[], dict[str, Any]]:
        """Of workers that have nothing more to do."""
        total: Counts = sum((w.counters for w in workers[1:]), workers[0].counters.copy())
        return partial(self.shape.plan.read, total, self.code.weights)

    def _chunks(self, first: int, threads: int) -> list[tuple[int, int]]:
        """(first, count) of shares: large ones first, so that threads are seldom asked for, then small ones, so that
        all finish together."""
        least = max(1, self.blocks // (256 * threads))
        shares = []
        while first < self.blocks:
            size = min(max((self.blocks - first) // (4 * threads), least), self.blocks - first)
            shares.append((first, size))
            first += size
        return shares

    def drive(self, workers: list[Worker], chunks: list[tuple[int, int]], finish: bool = True) -> Status:
        """Runs chunks on the workers' threads while this one watches for Ctrl-C and tells of the progress; or on this
        one, where there is one worker and nothing to be told."""
        if self.here and len(workers) == 1 and self.code.places is None:
            return self._drive_here(workers[0], chunks, finish)
        queue = iter(chunks)
        lock = threading.Lock()
        outcome: list[Status] = []
        late = False

        def upcoming() -> Iterator[tuple[int, int]]:
            while not outcome:
                with lock:
                    chunk = next(queue, None)
                if chunk is None:
                    return
                yield chunk

        def work(worker: Worker) -> None:
            status = worker.run(self.code, upcoming(), finish)
            if status is not Status.DONE:
                outcome.append(status)
                self.shape.stop.value = len(workers) > 1

        shares: list[StartedTask] = []
        try:
            shares += (StartedTask(partial(work, worker)) for worker in workers)
            for share in shares:
                while not share.done(self._patience()):
                    self._tell(workers)
                    late = late or self._late()
                    self.shape.stop.value |= late
            self._tell(workers)
        except BaseException:
            self._stop(shares)
            raise
        status = outcome[0] if outcome else Status.DONE
        if late and status is Status.STOPPED:
            raise TooLongError
        return self._ended(workers, status)

    def _drive_here(self, worker: Worker, chunks: list[tuple[int, int]], finish: bool) -> Status:
        with stopped_by_signals(self.shape.stop):
            status = worker.run(self.code, iter(chunks), finish)
        ended = self._ended([worker], status)
        if status is Status.STOPPED:
            raise SignalledError
        return ended

    def _stop(self, shares: list[StartedTask]) -> None:
        """Waits for the end of all that still runs: it writes to arrays that the caller is about to have back."""
        self.shape.stop.value = 1
        for share in shares:
            ended = False
            while not ended:
                with suppress(BaseException):  # of the share, which comes once, or Ctrl-C once more
                    ended = share.done()

    def _ended(self, workers: list[Worker], status: Status) -> Status:
        """Raises what went wrong on one worker; what did on several, or abreast, is looked for in order."""
        self.shape.stop.value = 0
        self.code.check()
        for worker in workers:
            worker.room.taking.check()
        if any(w.env.fault.kind == FaultKind.WRAPPED for w in workers):
            raise IndexWrappedError
        if status is Status.FAULT and len(workers) == 1 and workers[0].abreast is None:
            if self.tiers.may_cross and workers[0].waits_at_meeting():
                raise CrossedError
            raise self._fault(workers[0])
        return status

    def _patience(self) -> float:
        """How long to wait for the workers before looking after them, in seconds."""
        if self.progress:
            return POLL_SECONDS
        return min(max(self._left(), POLL_SECONDS), WAKE_SECONDS)

    def _late(self) -> bool:
        return self._left() < 0

    def _left(self) -> float:
        """How many seconds the code may take, if it is steps."""
        return inf if self.code.places is None else self.started + self.tiers.seconds - time.perf_counter()

    def _tell(self, workers: list[Worker]) -> None:
        if self.progress:
            self.progress(sum(w.env.done for w in workers), self.blocks)

    def _fault(self, worker: Worker) -> BaseException:
        """What a worker recorded, with what was printed until then.  Memory stays as it is at the fault."""
        if worker.driver.error:
            return worker.driver.error
        self.memory.written = frozenset(range(len(self.memory.allocations)))
        shape, program = self.shape, self.shape.plan.program
        hung = told(*worker.hung(), program) if worker.env.fault.kind == FaultKind.DEADLOCK else ""
        found = report(worker.env, program, shape.launch, self.memory, shape.measure.budget, hung, worker.driver.fault)
        found.printed = syscalls.output([worker.driver])
        return found


def together(workers: list[Worker]) -> list[int]:
    """How all of them used each buffer."""
    first, *others = (worker.touched() for worker in workers)
    for used in others:
        first = [one | other for one, other in zip(first, used, strict=True)]
    return first
