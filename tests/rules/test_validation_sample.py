"""What the rules find in a fixed sample of the first validation list, launch by launch: a snapshot.

A rule that is changed shows here on which kernels it fires now; the list was not written for the rules.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

import warplens as wl
from validation.lists import KERNELS, LISTS, Configuration
from warplens.rules import findings, rules

FILES = ("lessons", "k30_spmv_bfs", "k33_sort", "k38_predication", "k40_idioms")
BLOCKS = 50  # that are run: counts are scaled
FOUND: dict[str, list[str]] = {
    "add1 2^20": ["missing_restrict"],
    "add2 2^20": [],
    "add4 2^20": [],
    "add_nounroll 2^20": ["loop_not_unrolled"],
    "add_unroll4 2^20": ["missing_restrict"],
    "aos 2^20": ["uncoalesced_access"],
    "bitonic 1024 x 1024": ["inactive_lanes", "barrier_stalls"],
    "bsearch 2^20 in 2^22": ["uncoalesced_access"],
    "ccopy 2^18": [],
    "gray 4096": ["uncoalesced_access", "narrow_access"],
    "gs 2^20": ["latency_bound"],
    "life 4096": ["work_per_thread", "narrow_access", "inactive_lanes", "uncoalesced_access", "division_by_variable"],
    "matmul_coarse2 256": [],
    "matmul_naive 256": ["redundant_loads"],
    "matmul_tiled 256": [],
    "nccopy 2^18": ["uncoalesced_access", "division_by_variable"],
    "reduce_modulo 2^18": ["division_by_variable", "inactive_lanes", "barrier_stalls"],
    "reduce_sequential 2^18": ["inactive_lanes", "barrier_stalls"],
    "reduce_strided 2^18": ["inactive_lanes", "bank_conflicts", "barrier_stalls"],
    "reduce_unroll8_warp 2^18": [],
    "spmv 2^18 x 16": ["uncoalesced_access"],
    "spmvv 2^18 x 16": ["uncoalesced_access", "inactive_lanes"],
    "tr 1024": ["uncoalesced_access", "latency_bound"],
}  # fmt: skip
FIRES = {
    "bank_conflicts": 1,
    "barrier_stalls": 4,
    "division_by_variable": 3,
    "inactive_lanes": 6,
    "latency_bound": 2,
    "loop_not_unrolled": 1,
    "missing_restrict": 2,
    "narrow_access": 2,
    "redundant_loads": 1,
    "uncoalesced_access": 8,
    "work_per_thread": 1,
}  # fmt: skip
"""Launches of the sample on which each rule fires."""


def sample() -> dict[str, Configuration]:
    """The first launch of each kernel, by its name."""
    every = [launch for launch in LISTS["first"].configurations() if launch.file in FILES]
    first = {launch.kernel: launch for launch in reversed(every)}
    return {launch.name: launch for launch in first.values()}


compiled = cache(lambda file: wl.compile(KERNELS / f"{file}.cu"))


@pytest.mark.parametrize("name", sorted(sample()))
def test_findings(name: str) -> None:
    launch = sample()[name]
    kernel = compiled(launch.file)[launch.kernel]
    run = kernel.launch(launch.grid, launch.block, *launch.arguments(), shared=launch.shared, sample=BLOCKS)
    assert [finding.fault for finding in findings(run.subject)] == FOUND[name]


def test_launches_by_rule() -> None:
    assert set(FOUND) == set(sample())
    assert Counter(fault for found in FOUND.values() for fault in found) == FIRES
    assert set(FIRES) <= {rule.fault for rule in rules()}
