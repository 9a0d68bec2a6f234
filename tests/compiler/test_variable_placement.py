"""Where `__device__` variables are: as read on an H200 (driver 580.159.04, 2026-11-27)."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.compiler.variable_placement import VariablePlacement, VariableSymbol
from warplens.core.cubin import Variable
from warplens.errors import CubinError

INIT, ZERO = ".nv.global.init", ".nv.global"


def test_each_begins_at_256_bytes_in_the_order_of_symbols() -> None:
    """The first module of the probe: 0, 0x2000, 0x2100 ... on the H200."""
    symbols = [
        VariableSymbol("v0", ZERO, 48, 8000),
        VariableSymbol("v1", INIT, 0, 48),
        VariableSymbol("v2", INIT, 48, 4),
        VariableSymbol("v3", ZERO, 0, 48),
        VariableSymbol("v4", ZERO, 8048, 2),
        VariableSymbol("v5", INIT, 52, 1000),
    ]
    content = np.arange(1052, dtype=np.uint32).astype(np.uint8).tobytes()
    placed = VariablePlacement(symbols, {INIT: content, ZERO: bytes(8050)})
    assert [placed.variables[f"v{n}"].offset for n in range(6)] == [0, 0x2000, 0x2100, 0x2200, 0x2300, 0x2400]
    assert placed.image[0x2400 : 0x2400 + 1000] == content[52:]
    assert placed.moved(INIT, 60) == 0x2408
    assert placed.moved(ZERO, 9000) is None


def test_names_of_the_same_bytes_stay_together() -> None:
    symbols = [
        VariableSymbol("part", INIT, 8, 4),
        VariableSymbol("other", INIT, 32, 4),
        VariableSymbol("whole", INIT, 0, 32),
        VariableSymbol("again", INIT, 0, 32),
    ]
    placed = VariablePlacement(symbols, {INIT: bytes(36), ZERO: b""})
    assert placed.variables == {
        "part": Variable(8, 4), "other": Variable(256, 4), "whole": Variable(0, 32), "again": Variable(0, 32),
    }  # fmt: skip


def test_a_variable_outside_of_its_section_is_refused() -> None:
    with pytest.raises(CubinError, match=r"behind the end of \.nv\.global"):
        VariablePlacement([VariableSymbol("v", ZERO, 8, 16)], {INIT: b"", ZERO: bytes(16)})


def test_rows_of_a_variable_behind_a_small_one_are_aligned() -> None:
    """HeCBench's hungarian: with all variables behind each other, each row of 128 bytes lay in two lines."""
    module = wl.compile(
        source="""
        __device__ int before = 7;
        __device__ int rows[1024];
        __device__ int *last = &rows[1023];
        extern "C" __global__ void fill() { rows[threadIdx.x] = before; if (threadIdx.x == 0) *last = 9; }
        """
    )
    run = module["fill"].launch(1, 256)
    assert run["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 256 * 4 // 32 + 1
    rows = module.variables["rows"].read(np.int32)
    assert (rows[:256] == 7).all()
    assert rows[1023] == 9
