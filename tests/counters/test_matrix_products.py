"""Counters of matrix products: what an H200 counted for each shape of mma.sync and each type of wgmma."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.hand_made_traces import program, trace
from warplens.core.launch import Launch
from warplens.counters.metric_collection import formulas
from warplens.counters.metrics import matrix_products, shared_memory
from warplens.counters.vocabulary import Counts
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


def test_multiply_adds_of_half_pairs_are_on_the_tensor_pipe() -> None:
    """As an H200 counts them, also where one loads a constant (measurements/h200/triton_kernels.csv)."""
    listing = program("HFMA2.MMA R5, -RZ, RZ, 0, 0\nHFMA2 R5, R1, R2, R3\nHMMA.16816.F32 R4, R8, R6, R4")
    made = tuple(
        replace(i, operands=parse_operands(i.opcode, i.text, 0, i.offset, {})) for i in listing.instructions
    )  # fmt: skip
    counts = Counts(
        replace(listing, instructions=made), trace(Launch((2, 1, 1), (32, 1, 1)), [{"executed": 3}] * 3), [0] * 3
    )
    found = {formula.name: metric.value for formula in matrix_products.METRICS for metric in formula.metrics(counts)}
    assert found["sm__inst_executed_pipe_tensor.sum"] == 6
    assert found["smsp__inst_executed_pipe_tensor_op_hmma.sum"] == 6
    assert found["sm__inst_executed_pipe_tensor_op_imma.sum"] == 0


def test_shared_wavefronts_are_those_of_the_matrices_too() -> None:
    """As an H200 counts them in 17 kernels (benchmarks/blind, third list): 2 KB of A and 4 KB of B."""
    listing = program("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24")
    made = tuple(
        replace(i, operands=parse_operands(i.opcode, i.text, 0, i.offset, {})) for i in listing.instructions
    )  # fmt: skip
    counts = Counts(
        replace(listing, instructions=made), trace(Launch((1, 1, 1), (128, 1, 1)), [{"executed": 4}]), [0]
    )  # fmt: skip
    found = {formula.name: metric.value for formula in shared_memory.METRICS for metric in formula.metrics(counts)}
    assert found["smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum"] == 48
    assert found["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"] == 0
