"""The numbers of the tables, against what the source says must come out."""

from __future__ import annotations

import numpy as np
import pytest

import warplens as wl
from warplens.report import tables
from warplens.report.launch_view import LaunchView

WARPS = 32768 // 32  # of the copies


@pytest.mark.parametrize("subject", ["nccopy"], indirect=True)
def test_a_stride_of_two_doubles_the_sectors_of_the_loads(subject: LaunchView) -> None:
    load, store = tables.sectors(subject)
    assert (load.name, load.requests, load.units, load.ideal) == ("Global Load", WARPS, 8 * WARPS, 4 * WARPS)
    assert (load.excess, load.efficiency) == (4 * WARPS, 0.5)
    assert (store.name, store.units, store.excess, store.efficiency) == ("Global Store", 4 * WARPS, 0, 1.0)


@pytest.mark.parametrize("subject", ["transpose"], indirect=True)
def test_a_column_of_32_words_meets_in_one_bank(subject: LaunchView) -> None:
    requests = 256 * 256 // 32
    load, store = tables.wavefronts(subject)
    assert (load.name, load.requests, load.units, load.excess) == (
        "Shared Load", requests, 32 * requests, 31 * requests
    )  # fmt: skip
    assert (store.name, store.units, store.excess) == ("Shared Store", requests, 0)


@pytest.mark.parametrize("subject", ["ccopy", "transpose", "odd", "matmul"], indirect=True)
def test_mix_and_lines_add_up_to_all_instructions(subject: LaunchView) -> None:
    executed = int(subject.trace.executed.sum())
    assert sum(row.executed for row in tables.mix(subject)) == executed
    assert sum(row.executed for row in tables.lines(subject)) == executed
    assert sum(row.share for row in tables.mix(subject)) == pytest.approx(1)


@pytest.mark.parametrize("subject", ["transpose"], indirect=True)
def test_conflicts_stand_at_the_line_that_causes_them(subject: LaunchView) -> None:
    (guilty,) = [row for row in tables.lines(subject) if row.conflicts]
    assert "= tile[threadIdx.x][threadIdx.y + j]" in guilty.text


@pytest.mark.parametrize("subject", ["nccopy"], indirect=True)
def test_excess_stands_at_the_line_that_causes_it(subject: LaunchView) -> None:
    (guilty,) = [row for row in tables.lines(subject) if row.excess]
    assert "in[(2 * i) % n]" in guilty.text
    assert guilty.excess == 4 * WARPS


@pytest.mark.parametrize("subject", ["ccopy"], indirect=True)
def test_no_branch_has_no_efficiency(subject: LaunchView) -> None:
    seen = tables.divergence(subject)
    assert (seen.targets, seen.efficiency) == (0, None)


@pytest.mark.parametrize("subject", ["odd"], indirect=True)
def test_lanes_that_part_diverge(subject: LaunchView) -> None:
    seen = tables.divergence(subject)
    assert 0 < seen.divergent < seen.targets
    assert seen.efficiency == 1 - seen.divergent / seen.targets
    assert seen.threads_on <= seen.active_threads < 32


@pytest.mark.parametrize("subject", ["odd"], indirect=True)
def test_the_hottest_instructions_come_first_and_are_said_in_words(subject: LaunchView) -> None:
    rows = tables.hottest(subject, 5)
    counts = [row.executed for row in rows]
    assert counts == sorted(subject.trace.executed.tolist(), reverse=True)[:5]
    assert all(row.words for row in rows)


def test_padding_of_copies_is_no_shared_load() -> None:
    source = """extern "C" __global__ void staged(const float* in, float* out) {
      __shared__ float room[128];
      unsigned at = (unsigned)__cvta_generic_to_shared(room + threadIdx.x);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(in + threadIdx.x));
      asm volatile("cp.async.wait_all;" ::: "memory");
      if (in[0] < 2) out[threadIdx.x] = threadIdx.x;
    }"""
    kernel = wl.compile(source=source, arch="sm_90")["staged"]
    padding = [i for i in kernel.program.instructions if i.base == "LDS"]
    assert padding
    assert all(i.guard is not None and i.guard.index < 0 for i in padding)
    run = kernel.launch(1, 128, np.ones(128, np.float32), np.zeros(128, np.float32))
    assert [row.name for row in tables.wavefronts(run.subject)] == ["Shared from Global"]
