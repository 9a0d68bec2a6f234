"""The micro-benchmarks: that each can be launched, and that the compiler left of them what they are for."""

from __future__ import annotations

import csv
from collections import Counter

import numpy as np
import pytest
from digests import DIGESTS, digest

import warplens as wl
from warplens.calibration import Trial, derive, source_of, trials
from warplens.calibration.bench import SHARES, distribution
from warplens.calibration.session import compiled
from warplens.calibration.trial import subjects

TRIALS = list(trials(132))


def test_names_are_different_and_blocks_possible() -> None:
    assert len({trial.name for trial in TRIALS}) == len(TRIALS) > 700
    assert all(1 <= trial.block <= 1024 and trial.grid >= 1 for trial in TRIALS)
    assert {trial.subject for trial in TRIALS} == set(subjects())


@pytest.mark.long
def test_every_trial_has_its_kernel_and_all_arguments() -> None:
    found = compiled("sm_90")
    for trial in TRIALS:
        assert len(trial.args) == len(found[trial.subject].parameters[trial.kernel]), trial.name


@pytest.mark.every(20)
@pytest.mark.parametrize(
    ("subject", "kernel", "opcode", "least"),
    [
        ("shared", "shared_16", "LDS", 16), ("shared", "chain_shared_4", "LDS", 16),
        ("shared", "shared_add", "ATOMS", 16),
        ("atomics", "chase_atomic", "ATOMG", 16), ("latency", "pointers_l2", "LDG", 32),
        ("caches", "window_l2_16", "LDG", 8), ("streams", "read_4_4", "LDG", 4), ("flow", "loop_barrier", "BAR", 16),
    ],
)  # fmt: skip
def test_the_compiler_kept_it(subject: str, kernel: str, opcode: str, least: int) -> None:
    body = wl.compile(source=source_of(subject))[kernel].program.body
    assert Counter(instruction.base for instruction in body)[opcode] >= least


def test_a_chain_of_pointers_is_followed() -> None:
    n, step = 1024, 16
    found = wl.compile(source=source_of("launches"))
    latency = wl.compile(source=source_of("latency"))
    p = np.zeros(n, np.uint64)
    found["fill_pointers"].launch((4,), (256,), p, np.int64(n), np.int64(step))
    assert np.array_equal(np.diff(p[:-step].astype(np.int64)), np.full(n - step - 1, 8))
    assert set(p.tolist()) == {int(p[-step]) + 8 * i for i in range(n)}
    assert latency["pointers"].kernel.parameters[1].size == 8


def test_percentiles_of_a_distribution_leave_zeros_out() -> None:
    trial = Trial("gap", "block_gap", 4, 32, reads="each", count=4)
    assert distribution(trial, np.array([0, 30, 10, 20], np.int64))[SHARES.index(50)] == 20


def test_starts_are_told_apart_by_multiprocessor() -> None:
    trial = Trial("starts", "block_starts", 4, 32, reads="starts", count=4)
    ticks = np.array([100, (1 << 48) + 5000, 140, (1 << 48) + 5060], np.int64)
    found = distribution(trial, ticks)
    assert (found[0], found[-1]) == (40, 60)


@pytest.mark.parametrize("subject", subjects())
def test_trials_are_those_that_the_record_was_measured_with(subject: str) -> None:
    """A trial that changes has to be measured again: then `python tests/calibration/digests.py` writes them anew."""
    with DIGESTS.open(newline="") as file:
        kept = {row["subject"]: row for row in csv.DictReader(file)}
    assert kept[subject] == digest(subject)


def test_each_size_that_the_derivation_looks_up_has_a_trial() -> None:
    names = {trial.name for trial in TRIALS}
    assert {f"write 4 warm, {mib} MiB" for mib in derive.WRITTEN} <= names
    assert {f"working set, {mib} MiB" for mib in derive.READ_AGAIN} <= names
