"""Threaded code: a kernel as one record an instruction: handler pointer and operand numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplens.core.cubin import Kernel
from warplens.core.program import Program
from warplens.emulator.analysis.cfg import reachable_blocks
from warplens.emulator.analysis.divergence import may_yield
from warplens.emulator.analysis.kernel_features import highest, restores_barriers, uses_convergence_barriers
from warplens.emulator.instrument.instrumentation import unit
from warplens.emulator.lowering.kernel_module import check_cluster, windows_of
from warplens.emulator.state.check_set import Checks, ordered
from warplens.emulator.state.counter_layout import ELSEWHERE, CounterLayout
from warplens.emulator.threaded.template import (
    DRIVER,
    LOST,
    MOST_UNIFORM,
    Template,
    TemplateSettings,
    ThreadedOp,
    UnfitError,
    entry,
)
from warplens.emulator.threaded.template_cache import OperandNumbers, template_cache
from warplens.sass.block_queue import polls_other_blocks
from warplens.sass.flow_graph import waits

OP = np.dtype(ThreadedOp)
NOTHING = OperandNumbers([], None)


@dataclass(frozen=True)
class ThreadedCode:
    """Threaded code of a kernel, without the handler addresses.

    templates    template of each record;  table: the records (ThreadedOp)
    starts   first record of each program point, -1 where nothing can resume; the last is that of system calls
    """

    templates: list[Template]
    table: NDArray[np.void]
    starts: NDArray[np.int64]
    setting: TemplateSettings


def setting_of(program: Program, checks: Checks, cluster: int = 1) -> TemplateSettings:
    return TemplateSettings(
        windows_of(program, cluster), checks, unit(program), restores_barriers(program),
        uses_convergence_barriers(program), may_yield(program), polls_other_blocks(program),
    )  # fmt: skip


def threaded_code(kernel: Kernel, program: Program, checks: Checks) -> ThreadedCode:
    """UnfitError if only the compiled tier can execute the kernel."""
    if highest(program)["UR"] > MOST_UNIFORM:
        raise UnfitError
    check_cluster(kernel, checks)
    setting, plan = setting_of(program, checks, kernel.cluster_blocks), CounterLayout(program)
    cache = template_cache(setting)
    templates: list[Template] = []
    rows: list[tuple[int, int, int, int, OperandNumbers]] = []
    known = reachable_blocks(program)
    entries = [entry(tries, setting) for tries in (False, True)]
    starts = np.full(len(program.instructions) + 1, -1, np.int64)

    def add(
        template: Template, index: int, row: int = 0, hit: int = 0, elsewhere: int = 0,
        numbers: OperandNumbers = NOTHING,
    ) -> None:  # fmt: skip
        templates.append(template)
        rows.append((index, 8 * row, 8 * hit, 8 * elsewhere, numbers))

    for number, block in enumerate(program.blocks):
        if block.first not in known:
            continue
        starts[block.first] = len(templates)
        add(entries[waits(program.instructions[block.first])], number, plan.block(number))
        for index in range(block.first, block.last + 1):
            instruction = program.instructions[index]
            if instruction.base == "NOP" and not ordered(checks):
                continue
            template, numbers = cache.of(instruction)
            elsewhere = plan.row(index, ELSEWHERE[0]) if index in plan.generic else 0
            add(template, index, plan.row(index), plan.hit(index), elsewhere, numbers)
        if block.last + 1 not in known:
            add(LOST, block.last)
    if kernel.externs:
        starts[-1] = len(templates)
        add(DRIVER, 0)
    return ThreadedCode(templates, _table(rows, starts), starts, setting)


def _table(rows: list[tuple[int, int, int, int, OperandNumbers]], starts: NDArray[np.int64]) -> NDArray[np.void]:
    table = np.zeros(len(rows), OP)
    for k, name in enumerate(("index", "row", "hit", "elsewhere")):
        table[name] = [row[k] for row in rows]
    for n, (_, _, _, _, numbers) in enumerate(rows):
        if numbers.words:
            table["numbers"][n, : len(numbers.words)] = numbers.words
        if numbers.target is not None:
            if not 0 <= numbers.target < len(starts) - 1 or starts[numbers.target] < 0:
                raise UnfitError
            table["target"][n], table["way"][n] = numbers.target, (starts[numbers.target] - n) * OP.itemsize
    return table
