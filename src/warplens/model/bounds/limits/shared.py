"""Shared-memory limit: one wavefront a cycle; bank conflicts add wavefronts."""

from __future__ import annotations

from warplens.counters.vocabulary import SHARED, WAVEFRONTS
from warplens.model.bounds.bound import Bound
from warplens.model.bounds.launch_work import LaunchWork


def bound(work: LaunchWork) -> Bound | None:
    wavefronts = work.total(WAVEFRONTS[SHARED])
    if not wavefronts:
        return None
    rate = work.machine.limits.shared_wavefronts_per_cycle
    return Bound("shared", work.shared_out(wavefronts, rate), f"{wavefronts:,} wavefronts of shared memory")
