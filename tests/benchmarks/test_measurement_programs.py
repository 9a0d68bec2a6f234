"""The programs of benchmarks/measurements compile, and launch what the rows of their files stand for."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warplens as wl

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "measurements"))
measure: Any = import_module("measure")
PROGRAMS = measure.programs()
SAMPLE = 12  # rows of a file


class Array(np.ndarray[Any, Any]):
    def get(self) -> Array:
        return self


class NoGpu:
    """Takes launches as gpu.Gpu does, and compares them with the kernels that there are."""

    def __init__(self, source: str) -> None:
        self.kernels = wl.compile(source=source, arch="sm_90") if source else {}
        self.cupy = np
        self.multiprocessors = 132
        self.sink = self.zeros(4096)
        self.started: list[str] = []

    def zeros(self, size: int) -> Array:
        return np.zeros(-(-size // 4), np.uint32).view(Array)

    def sweep(self) -> None:
        pass

    def start(self, kernel: str, grid: Any, block: Any, *args: Any, shared: int = 0, carveout: int = -1) -> None:
        assert len(args) == len(self.kernels[kernel].parameters), kernel
        sizes = grid if isinstance(grid, tuple) else (grid,)
        assert all(0 < size < 2**31 for size in sizes)
        assert 0 < prod(block if isinstance(block, tuple) else (block,)) <= 1024
        assert shared <= 227 << 10
        self.started.append(kernel)

    def times(self, kernel: str, grid: Any, block: Any, *args: Any, runs: int = 9, **how: Any) -> list[float]:
        self.start(kernel, grid, block, *args)
        return [1.0] * runs

    def time(self, kernel: str, grid: Any, block: Any, *args: Any, **how: Any) -> float:
        return self.times(kernel, grid, block, *args)[0]


def rows(name: str) -> list[dict[str, str]]:
    return [row for _, row in measure.in_chance_order(measure.rows_of(measure.KEPT / f"{name}.csv"))[:SAMPLE]]


def short(module: Any) -> str:
    """Its kernels with 8 instructions for each row of thousands: all of them take two minutes to compile."""
    return re.sub(f"(?:{re.escape(module.FFMA)})+", lambda _: module.FFMA, module.SOURCE)


BY_CUBIN = {"pipes", "register_banks", "pipe_counts", "atomic_ports", "atomic_rates"}  # tests of their own below


@pytest.mark.every(4)
@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {*PROGRAMS["walks"].FILES, "products", *BY_CUBIN}))
def test_a_program_launches_what_its_file_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, sample = PROGRAMS[name], rows(name)
    gpu = NoGpu(short(module) if name == "code_size" else module.SOURCE)
    if name == "seats":  # nobody has stayed anywhere
        monkeypatch.setattr(module, "at_once", lambda told: (1.0, 1.0, 1.0, 1))
    if name == "block_places":  # likewise: all blocks are said to be on the first multiprocessor
        sample = [row | {"multiprocessor": "0"} for row in sample]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = [(module.read if hasattr(module, "read") else module.launch)(gpu, row) for row in sample]
    assert gpu.started
    assert any(found)
    if hasattr(module, "read"):
        assert set(module.READS) <= set(sample[0])
        assert all(set(values) == set(module.READS) for values in found if values is not None)
    else:
        kept = dict.fromkeys(measure.counters(module, list(sample[0])), 1.0)
        values = module.values(kept) if hasattr(module, "values") else kept
        assert set(values) & set(sample[0])


def test_counters_of_calibration_trials_are_of_trials_that_there_are() -> None:
    named = PROGRAMS["walks"].named(132)
    for name in PROGRAMS["walks"].FILES:
        known = [PROGRAMS[name].name_of(row) for row in rows(name)]
        assert sum(trial in named for trial in known) >= 0.75 * SAMPLE


def test_the_rungs_of_the_lab_are_launched_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    products, shapes = PROGRAMS["products"], []
    gpu = SimpleNamespace(zeros=lambda size: size, start=lambda kernel, *how, shared: shapes.append((*how[:2], shared)))
    monkeypatch.setattr(products, "module_of", lambda rung: gpu)
    assert all(products.launch(gpu, row) for row in measure.rows_of(measure.KEPT / "products.csv"))
    assert shapes[0] == ((128, 512), (32, 8), 0)
    assert shapes[5] == ((32, 32), 256, 0)


def test_readings_are_compared_column_by_column() -> None:
    kept = [{"n": "1", "us": "10"}, {"n": "2", "us": "20"}, {"n": "3", "us": "40"}]
    again = [{"n": "1", "us": "10.5"}, {"n": "3", "us": "80"}]
    assert list(measure.compared(kept, again, ["us"])) == ["us | 2 | 1.52 | 50 %"]
    assert measure.ratio("1 2 3 4", "1 2 3 5") == 0.75


@pytest.mark.every(2)
@pytest.mark.parametrize("opcode", ["HADD2", "IADD3.X", "ISETP.GT.AND", "MUFU.RCP", "DADD", "S2R"])
def test_a_loop_of_an_opcode_keeps_its_own_counter(opcode: str) -> None:
    """120 instructions of the opcode, none of which writes a register or predicate that the loop needs."""
    pipes, loops = PROGRAMS["pipes"], import_module("cubin_loops")
    cubin = loops.replaced(lambda _, i: pipes.word(opcode, pipes.control_of(i)))
    kernel = wl.load(cubin)["own"]
    assert sum(i.opcode == opcode for i in kernel.program.instructions) >= loops.STEPS
    run = kernel.launch(1, 32, np.zeros(1024, np.float32), 3, 0.5, 1.5, np.zeros(32, np.int64), budget=10_000)
    assert run["smsp__inst_executed.sum"] > 3 * loops.STEPS


def test_patterns_of_registers_lie_in_their_banks() -> None:
    cubin = PROGRAMS["register_banks"].cubin("EOE")
    code = [i for i in wl.load(cubin)["own"].program.instructions if i.opcode == "FFMA"][
        : PROGRAMS["register_banks"].BODY
    ]
    assert {tuple(register.index % 2 for register in i.operands[1:]) for i in code} == {(0, 1, 0)}


def test_every_line_of_pipe_counts_can_be_assembled() -> None:
    sys.path.insert(0, str(ROOT / "tests" / "isa"))
    lines = {form.line for form in import_module("ptx_forms").forms()}
    assert {row["ptx"] for row in measure.rows_of(measure.KEPT / "pipe_counts.csv")} <= lines


def test_ports_are_found_from_times() -> None:
    """A made-up GPU of 5 ports with two units each: one launch in ten takes half as long again."""
    ports, calls = PROGRAMS["atomic_ports"], iter(range(10**9))
    truth = {n: (n * 7919 % 5, n * 104729 // 5 % 2) for n in range(2 * ports.PAGE // ports.KILOBYTE)}

    def of(place: int) -> tuple[int, int]:
        return truth[place // ports.KILOBYTE * 2 + (place % ports.KILOBYTE > 0)]

    def time(_gpu: Any, _page: Any, a: int, b: int, launches: int = 2) -> float:
        usual = 100.0 * (1.0 if of(a)[0] != of(b)[0] else 1.25 if of(a)[1] != of(b)[1] else 2.0)
        return usual if launches > 2 or next(calls) % 10 else 1.5 * usual

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ports, "microseconds", time)
        found = ports.ports_of(None, None)
    assert len({port for port, _ in found.values()}) == 5
    groups = {(found[p][0], of(p)[0]) for p in found}
    assert len(groups) == 5
