"""Counters of matrix products: what an H200 counted for each shape of mma.sync and each type of wgmma."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.hand_made_traces import program, trace
from warplens.core.launch import Launch
from warplens.counters.metric_collection import formulas
from warplens.counters.metrics import matrix_products, shared_memory
from warplens.counters.vocabulary import Counts, Formula
from warplens.sass import parse_operands

MEASURED = Path(__file__).parents[2] / "measurements" / "h200" / "tensor_counters.csv"


def rows() -> list[dict[str, str]]:
    with MEASURED.open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["instructions"].split()[0])
def test_counters_are_those_of_an_h200(row: dict[str, str]) -> None:
    listing = program(row["instructions"].replace("; ", "\n"))
    made = tuple(
        replace(i, operands=parse_operands(i.opcode, i.text, 0, i.offset, {})) for i in listing.instructions
    )  # fmt: skip
    executed = [{"executed": int(row["executed"])}] * len(made)
    counts = Counts(
        replace(listing, instructions=made), trace(Launch((2, 1, 1), (32, 1, 1)), executed), [0] * len(made)
    )
    for formula in matrix_products.METRICS:
        (metric,) = formula.metrics(counts)
        assert metric.value == int(row[formula.name]), formula.name


def test_all_kinds_are_measured() -> None:
    found = {row["instructions"].split(".")[0] for row in rows()}
    assert found == {"HMMA", "IMMA", "BMMA", "DMMA", "HGMMA", "QGMMA", "IGMMA", "BGMMA"}


def test_other_chips_do_not_have_them() -> None:
    assert not {f.name for f in formulas("sm_80")} & {f.name for f in matrix_products.METRICS}


def values(text: str, metrics: Sequence[Formula], launch: Launch, executed: int) -> dict[str, object]:
    """Of a listing with its operands, each instruction of which is executed so often."""
    listing = program(text)
    made = tuple(
        replace(i, operands=parse_operands(i.opcode, i.text, 0, i.offset, {})) for i in listing.instructions
    )  # fmt: skip
    blocks = [{"executed": executed}] * len(made)
    counts = Counts(replace(listing, instructions=made), trace(launch, blocks), [0] * len(made))
    return {formula.name: metric.value for formula in metrics for metric in formula.metrics(counts)}


def test_multiply_adds_of_half_pairs_are_on_the_tensor_pipe() -> None:
    """As an H200 counts them, also where one loads a constant (measurements/h200/triton_kernels.csv)."""
    text = "HFMA2.MMA R5, -RZ, RZ, 0, 0\nHFMA2 R5, R1, R2, R3\nHMMA.16816.F32 R4, R8, R6, R4"
    found = values(text, matrix_products.METRICS, Launch((2, 1, 1), (32, 1, 1)), 3)
    assert found["sm__inst_executed_pipe_tensor.sum"] == 6
    assert found["smsp__inst_executed_pipe_tensor_op_hmma.sum"] == 6
    assert found["sm__inst_executed_pipe_tensor_op_imma.sum"] == 0


def test_shared_wavefronts_are_those_of_the_matrices_too() -> None:
    """As an H200 counts them in 17 kernels (benchmarks/blind, third list): 2 KB of A and 4 KB of B."""
    text = "HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24"
    found = values(text, shared_memory.METRICS, Launch((1, 1, 1), (128, 1, 1)), 4)
    assert found["smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum"] == 48
    assert found["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] == 48
