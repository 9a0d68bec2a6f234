"""run(): a launch on the CPU, every block of it, counted.

Blocks run in parallel where their order cannot matter; what a kernel counts never depends on the number of threads.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from warplens.emulator import abi, driver
from warplens.emulator.crew import Started
from warplens.emulator.deadlock import told
from warplens.emulator.fault import report
from warplens.emulator.findings import Findings, hazards
from warplens.emulator.jit import Translated
from warplens.emulator.layout import FaultKind, Status, Touch
from warplens.emulator.memory import DeviceMemory
from warplens.emulator.plan import Plan
from warplens.emulator.sample import Sample, sample_of
from warplens.emulator.tiers import Tiers, TooLongError
from warplens.emulator.translator import saved_bytes
from warplens.emulator.watch import NO_CHECKS, Checks
from warplens.emulator.worker import Shape, Worker, in_any_order, thread_indices
from warplens.errors import KernelFault
from warplens.kernel import Kernel
from warplens.launch import Launch
from warplens.program import Program
from warplens.trace import Counts, Trace

T = TypeVar("T")
Progress = Callable[[int, int], None]
DEFAULT_BUDGET = 1_000_000_000  # warp instructions a warp may execute: some seconds here, a second on a GPU
POLL_SECONDS = 0.05
OFTEN = 1  # warp instructions a byte: one takes as long as to copy ten bytes


def available_threads() -> int:
    """Processors that this process may use; WARPLENS_THREADS says otherwise."""
    chosen = os.environ.get("WARPLENS_THREADS", "")
    return max(int(chosen), 1) if chosen.isdigit() else len(os.sched_getaffinity(0))


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
) -> Trace:
    """Executes every block, or a sample of so many; `memory` holds the results afterwards.

    KernelFault if the kernel does something wrong; `memory` then holds what was written before.
    """
    started = time.perf_counter()
    chosen = None if sample is None else sample_of(launch, sample)
    shape, heap = prepare(kernel, program, launch, parameters, memory, banks, multiprocessors, budget, checks)
    crew = threads or available_threads()
    tiers = Tiers(kernel, program, tile_of(launch), checks)

    def execute(code: Translated) -> tuple[Grid, dict[str, Any]]:
        grid = Grid(tiers, code, shape, memory, progress, heap)
        return grid, grid.run(crew, chosen)

    grid, counts = with_code(tiers, execute)
    seconds = time.perf_counter() - started
    found = hazards(grid.findings, program, launch)
    return Trace(
        launch, blocks_run=grid.blocks, seconds=seconds, hazards=found, printed=grid.printed, **counts
    )  # fmt: skip


def with_code(tiers: Tiers, execute: Callable[[Translated], T]) -> T:
    """What it gives with the first code that gets to the end."""
    code = tiers.first()
    while True:
        try:
            return execute(code)
        except TooLongError:
            code = tiers.whole()
        except IndexWrappedError:
            code = tiers.whole(tile=0)


Heap = tuple[int, int] | None  # number of its allocation, and its address


def prepare(
    kernel: Kernel, program: Program, launch: Launch, parameters: bytes, memory: DeviceMemory,
    banks: dict[int, bytes] | None, multiprocessors: int, budget: int, checks: Checks,
) -> tuple[Shape, Heap]:  # fmt: skip
    """What every worker needs to know; allocates what the driver keeps in device memory."""
    driver.check(kernel)
    code = known(kernel, program)
    tid, first_mask = thread_indices(launch.block)
    barrier = memory.allocate("the grid's barrier", np.zeros(64, np.uint8)) if launch.cooperative else 0
    contents = {n: kernel.constants.get(n, b"") for n in range(8)} | (banks or {})
    first = abi.constants(kernel, launch, parameters, multiprocessors, barrier)
    shape = Shape(
        launch,
        code.plan,
        shared_bytes=kernel.shared_bytes + launch.shared,
        local_bytes=_stack(kernel, code.calls),
        banks={n: _bank(content) for n, content in contents.items()} | {0: np.frombuffer(first, np.uint8)},
        bank_bytes={n: len(content) for n, content in contents.items()} | {0: kernel.parameter_base + len(parameters)},
        budget=budget,
        stop=np.zeros(1, np.int32),
        tid=tid,
        first_mask=first_mask,
        stride=code.stride,
        checks=checks,
    )
    heap = None
    if "malloc" in kernel.externs:
        number = len(memory.allocations)
        heap = number, memory.allocate("the heap of malloc", np.zeros(driver.HEAP_BYTES, np.uint8))
    return shape, heap


@dataclass(frozen=True)
class Known:
    """What launches need to know of a program, found once: to look at all instructions takes as long as all else
    before a launch.

    stride   bytes of a warp's record;  calls: whether it calls functions
    """

    plan: Plan
    stride: int
    calls: bool


_known: dict[tuple[str, bytes], Known] = {}  # the latest program of each machine code


def known(kernel: Kernel, program: Program) -> Known:
    name = kernel.arch, kernel.code
    found = _known.get(name)
    if found is None or found.plan.program is not program:  # which may have other lines of source
        calls = any(i.base == "CALL" for i in program.instructions)
        found = _known[name] = Known(Plan(program), saved_bytes(program), calls)
    return found


def _stack(kernel: Kernel, calls: bool) -> int:
    """Bytes of local memory a thread.  Recursion may go deeper than the compiler knows."""
    return -(-max(kernel.local_bytes, abi.CALL_STACK if calls else 0) // 16) * 16


def _bank(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content.ljust(abi.BANK_BYTES, b"\0"), np.uint8) if content else EMPTY_BANK


EMPTY_BANK = np.zeros(abi.BANK_BYTES, np.uint8)


class IndexWrappedError(Exception):
    """A line of indices left 32 bits: only a translation without lines can execute that."""


def tile_of(launch: Launch) -> int:
    """How many lanes stand side by side along x; 0 if the warps of a block are not all alike."""
    x, y, z = launch.block
    if x % 32 == 0 or y * z == 1:
        return 32
    rows = 32 // x if 32 % x == 0 else 0
    return x if rows and (z == 1 or y % rows == 0) else 0


class Grid:
    """All blocks of one launch."""

    def __init__(
        self, tiers: Tiers, code: Translated, shape: Shape, memory: DeviceMemory, progress: Progress | None,
        heap: Heap,
    ) -> None:  # fmt: skip
        """`code` is what it begins with."""
        self.tiers, self.code = tiers, code
        self.shape, self.memory, self.progress, self.heap = shape, memory, progress, heap
        self.started = time.perf_counter()
        self.blocks = shape.launch.blocks
        self.findings: list[Findings] = []
        self.printed = ""

    def run(self, threads: int, sample: Sample | None = None) -> dict[str, Any]:
        """The counters of the launch, an array of each kind; of a sample they are scaled to the grid."""
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
        return sample.scaled(self._counted(ends), self._counted(inner))

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
        if threads > 1 and self.blocks > 2 and in_any_order(first.touched()) and not first.driver.printed:
            workers = [first, *(self.worker() for _ in range(threads - 1))]
            status = self.drive(workers, self._chunks(1, threads))
            used = [sum_bits(bits) for bits in zip(*(w.touched() for w in workers), strict=True)]
            if status is Status.DONE and in_any_order(used):
                return workers
            self.memory.fill(threads, lent=True)
            first = self.worker()
            self.drive([first], [(0, self.blocks)])
        elif self.blocks > 1:
            self.drive([first], [(1, self.blocks - 1)])
        return [first]

    def _go_on_faster(self, first: Worker, blocks: int, threads: int) -> None:
        """The blocks that follow the first run with other code if that pays.  Those that have begun cannot."""
        if not first.waiting:
            work = self.shape.plan.executed(first.counters)
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

    def some(self, worker: Worker, blocks: Sequence[int]) -> Status:
        """These blocks, one after the other."""
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
        used = [sum_bits(bits) for bits in zip(*(w.touched() for w in [ends, *inner]), strict=True)]
        if several and not (status is Status.DONE and in_any_order(used)):
            return self._some(1, sample)
        self.drive([ends], [(sample.blocks - 1, 1)])
        return [ends], inner

    def worker(self) -> Worker:
        return Worker(self.shape, self.memory, self.heap)

    def _note_use(self, workers: list[Worker]) -> None:
        """Which buffers were written, what was found and what was printed."""
        touched = [sum_bits(bits) for bits in zip(*(w.touched() for w in workers), strict=True)]
        self.findings = [w.findings for w in workers]
        self.memory.written = frozenset(n for n, bits in enumerate(touched) if bits & ~Touch.READ)
        self.memory.read = frozenset(n for n, bits in enumerate(touched) if bits & ~Touch.WRITE)
        self.printed = driver.output([w.driver for w in workers])

    def _counted(self, workers: list[Worker]) -> dict[str, Any]:
        total: Counts = sum((w.counters for w in workers[1:]), workers[0].counters)
        return self.shape.plan.read(total, self.code.weights)

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
        """Runs chunks on the workers' threads while this one watches for Ctrl-C and tells of the progress."""
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
                self.shape.stop[0] = len(workers) > 1

        shares = [Started(partial(work, worker)) for worker in workers]
        try:
            for share in shares:
                while not share.done(self._patience()):
                    self._tell(workers)
                    late = late or self._late()
                    self.shape.stop[0] |= late
            self._tell(workers)
        except KeyboardInterrupt:
            self.shape.stop[0] = 1
            raise
        self.shape.stop[0] = 0
        self.code.check()
        status = outcome[0] if outcome else Status.DONE
        if late and status is Status.STOPPED:
            raise TooLongError
        if any(w.env.fault.kind == FaultKind.WRAPPED for w in workers):
            raise IndexWrappedError
        if status is Status.FAULT and len(workers) == 1:
            raise self._fault(workers[0])
        return status

    def _patience(self) -> float | None:
        """How long to wait for the workers before looking after them, in seconds; None: until they are done."""
        if self.progress:
            return POLL_SECONDS
        left = self._left()
        return None if left == inf else max(left, POLL_SECONDS)

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
        found = report(
            worker.env, program, shape.launch, self.memory, shape.budget, hung, worker.driver.fault
        )
        found.printed = driver.output([worker.driver])
        return found


def sum_bits(bits: tuple[int, ...]) -> int:
    total = 0
    for value in bits:
        total |= value
    return total

