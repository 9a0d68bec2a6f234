"""Version evaluator: executes versions of one kernel, compares their outputs with the original's, and times them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from warplens.advice import NOISE, Evaluation, OutputComparison, Step, Suggestion, Version, compare_outputs
from warplens.advice.search import Outcome
from warplens.core.launch import Dim3, Launch
from warplens.core.program import Program
from warplens.core.run_options import RunOptions
from warplens.errors import CompileError, KernelFault, Unpredictable, UnsupportedInstruction, UsageError
from warplens.model.instruction.instruction_table import adds_floats
from warplens.run import Run, launch_model
from warplens.sass.block_queue import polls_other_blocks, waiting_loads
from warplens.transform import Change, LaunchFacts

SAMPLE = 64  # blocks; its predicted time is that of the whole launch in the labs
LONG = 500_000  # warp instructions: to compile the kernel and to copy and compare its arrays takes longer
TRIAL_EFFORT = 0.1  # of the prediction of a sample: it takes a third of the time
COUNTS = ("smsp__inst_executed.sum", "memory_l2_theoretical_sectors_global", "memory_l1_wavefronts_shared",
          "smsp__inst_executed_op_branch.sum", "launch__registers_per_thread")  # fmt: skip
ATOMICS = ("RED", "ATOM")  # opcodes
UNKNOWN = LaunchFacts((1, 1, 1), (1, 1, 1))


@dataclass(frozen=True)
class SuggestRequest:
    """host: how to execute;  scratch: arrays whose content after the launch does not matter;  totals: arrays of which
    only the sum of all elements matters"""

    host: RunOptions
    scratch: tuple[str, ...] = ()
    totals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A version that is compiled.  execute: the run, and its outputs in the order of the evaluator's names"""

    code: bytes
    execute: Callable[[RunOptions], tuple[Run, Sequence[Any]]]


class VersionEvaluator(ABC):
    """Executes versions of one kernel.

    known   machine code and launch of those before;  start: the run of the kernel as it is
    expected   its outputs, in the order of `names`;  others: what on_other_inputs() executes it with, in words
    """

    others: str
    start: Run
    expected: Sequence[Any]

    def __init__(self, request: SuggestRequest) -> None:
        self.request = request
        self.known: set[tuple[bytes, Dim3 | None, Dim3 | None]] = set()

    @abstractmethod
    def as_it_is(self) -> Candidate:
        """The kernel before any change."""

    @abstractmethod
    def candidate(self, version: Version) -> Candidate:
        """CompileError."""

    @property
    @abstractmethod
    def names(self) -> Sequence[str]:
        """Of the outputs."""

    @abstractmethod
    def facts(self, run: Run) -> LaunchFacts: ...

    @abstractmethod
    def on_other_inputs(self, steps: Sequence[Step]) -> OutputComparison | None:
        """How outputs compare after these changes on other inputs; None where there are none.

        KernelFault if the changed kernel faults on them.
        """

    def evaluate(self, version: Version, changes: tuple[Change, ...], limit_us: float | None) -> Evaluation:
        if not changes:
            candidate = self.as_it_is()
            run, self.expected = candidate.execute(self.request.host)
            self.start = run.timed()
            self.known.add((candidate.code, None, None))
            return self.evaluated(self.start, exact=True)
        try:
            candidate = self.candidate(version)
        except CompileError as error:
            return Evaluation("not compiled", UNKNOWN, note=first_error(error))
        identity = candidate.code, version.grid, version.block
        if limit_us is not None and identity in self.known:
            return Evaluation("same code", UNKNOWN, note="same machine code as a version before")
        self.known.add(identity)
        try:
            if limit_us and self.is_long:
                sampled, _ = candidate.execute(replace(self.request.host, sample=SAMPLE))
                if quick := _trial_time(sampled):
                    gains = quick <= limit_us * (1 - NOISE)
                    return Evaluation("sampled" if gains else "no gain", UNKNOWN, quick)
            run, found = candidate.execute(self.request.host)
        except (KernelFault, UnsupportedInstruction, UsageError) as error:
            return Evaluation("fault", UNKNOWN, note=first_line(error))
        compared = self.compared(self.expected, found, tolerant(changes))
        if not compared.equal:
            note = "; ".join(compared.differs.values())
            if changes[-1].effect == "order":
                flags = ", ".join(f"--scratch {name}" for name in compared.differs)
                note += f"; if nobody reads it afterwards, add {flags}; if only its sum is used, --total instead"
            return Evaluation("outputs differ", UNKNOWN, note=note)
        if limit_us and self.is_slow_to_simulate and (quick := _trial_time(run)) and quick > limit_us * (1 - NOISE):
            return Evaluation("no gain", UNKNOWN, quick)
        return self.evaluated(run.timed(), compared.exact)

    def evaluated(self, timed: Run, exact: bool) -> Evaluation:
        """Of a version whose outputs are right."""
        outcome: Outcome = "equal" if timed.prediction else "not timed"
        return Evaluation(outcome, self.facts(timed), time_of(timed), timed.unpredicted, exact, _counts(timed))

    @cached_property
    def is_long(self) -> bool:
        """Whether a sample of the blocks is timed, and the whole launch is executed only of the fastest version.

        Not where blocks may wait for each other: those of a sample would wait for ever.
        """
        run = self.start
        long = self.is_slow_to_simulate and run.launch.blocks > 4 * SAMPLE
        return long and has_independent_blocks(run.launch, run.kernel.program)

    @property
    def is_slow_to_simulate(self) -> bool:
        return int(self.start.trace.executed.sum()) > LONG

    def compared(self, expected: Sequence[Any], found: Sequence[Any], may_round: bool) -> OutputComparison:
        return compare_outputs(
            self.names, expected, found, may_round, self.request.scratch, self.request.totals, self.additions
        )

    @property
    @abstractmethod
    def float_sums(self) -> frozenset[str]:
        """Arrays to which the kernel as it is adds floats by atomics."""

    @cached_property
    def additions(self) -> dict[str, int]:
        """By such an array: how many floats are added to an element, on average."""
        if not self.float_sums:
            return {}
        lanes, instructions = self.start.trace.threads_on, self.start.kernel.program.instructions
        atomics = [n for n, one in enumerate(instructions) if one.opcode.startswith(ATOMICS) and adds_floats(one)]
        added, arrays = int(lanes[atomics].sum()), dict(zip(self.names, self.expected, strict=True))
        return {name: added // max(np.size(arrays[name]), 1) for name in self.float_sums & arrays.keys()}


def has_independent_blocks(launch: Launch, program: Program) -> bool:
    """Whether some blocks can run without the others: none waits for another."""
    return not (launch.cooperative or waiting_loads(program) or polls_other_blocks(program))


def proven(evaluator: VersionEvaluator, found: Suggestion) -> tuple[Suggestion, str]:
    """Without the changes whose outputs differ on other inputs; and how equal those of the others are, and on what."""
    while found.steps:
        try:
            compared = evaluator.on_other_inputs(found.steps)
        except (KernelFault, UsageError) as fault:
            note = f"on {evaluator.others}: {first_line(fault)}"
        else:
            if compared is None:
                return found, ""
            if compared.equal:
                equal = "equal bit for bit" if compared.exact else "equal within rounding"
                return found, f"on {evaluator.others} {equal}"
            note = f"on {evaluator.others} " + "; ".join(compared.differs.values())
        found = without_last(found, note)
    return found, ""


def without_last(found: Suggestion, note: str) -> Suggestion:
    """The same without its last change, which is wrong; in its place the next best that was executed there."""
    *kept, last = found.steps
    wrong = replace(last, evaluation=replace(last.evaluation, outcome="outputs differ", note=note))
    others = [
        step for step in found.tried
        if step.evaluation.outcome == "equal" and step.gain >= NOISE and step.counts_before is last.counts_before
    ]  # fmt: skip
    best = max(others, key=lambda step: step.gain, default=None)
    tried = (wrong, *(step for step in found.tried if step is not best))
    return replace(found, steps=tuple(kept) if best is None else (*kept, best), tried=tried)


def line_shares(run: Run) -> dict[int, float]:
    """Share of all executed warp instructions by source line."""
    total, found = max(int(run.trace.executed.sum()), 1), dict[int, float]()
    for instruction, executed in zip(run.kernel.program.instructions, run.trace.executed.tolist(), strict=True):
        if instruction.source is not None:
            line = instruction.source.line
            found[line] = found.get(line, 0.0) + executed / total
    return found


def time_of(run: Run) -> float | None:
    return run.prediction.time_us if run.prediction else None


def _trial_time(run: Run) -> float | None:
    """Of a sample: predicted from fewer blocks than usual."""
    try:
        return launch_model(run, effort=TRIAL_EFFORT).prediction().time_us
    except Unpredictable:
        return None


def first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def first_error(error: CompileError) -> str:
    """The compiler's first error, without the folder of the file: copies of it are compiled."""
    lines = str(error).splitlines()
    return re.sub(r"^\S*/", "", next((line for line in lines if "error" in line), lines[0]))


def tolerant(changes: Sequence[Change]) -> bool:
    """Whether floats may differ by rounding after these changes."""
    return any(change.effect != "exact" for change in changes)


def _counts(run: Run) -> dict[str, float]:
    return {name: float(run.metrics[name].value) for name in COUNTS if name in run.metrics}
