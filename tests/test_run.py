"""A run's recordings: how long they may take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warplens as wl
from warplens import run as runs


def test_a_recording_may_take_so_many_times_what_a_warp_executes(monkeypatch: pytest.MonkeyPatch) -> None:
    """16 instructions a warp of ccopy."""
    x = np.ones(1 << 16, np.float32)
    run = wl.compile("examples/copy.cu")["ccopy"].launch(512, 128, x, np.zeros_like(x), np.int32(x.size))
    budgets: list[int] = []
    record = runs.record

    def noted(request: Any, *args: Any, **options: Any) -> Any:
        budgets.append(request.budget)
        return record(request, *args, **options)

    monkeypatch.setattr(runs, "record", noted)
    run.predict("h200")
    assert set(budgets) == {runs.PATIENCE * 16 + runs.LEAST_BUDGET}
