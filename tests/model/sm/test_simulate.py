"""One memory instruction of the simulated SM."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warplens.model.layout import Kind
from warplens.model.sm import simulate
from warplens.model.sm.pipes import no_products


@pytest.mark.parametrize(("free", "left_at"), [(0.0, 11.0), (20.0, 20.0)])
def test_a_shuffle_takes_the_load_store_unit_for_a_cycle(
    free: float, left_at: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate, "occupy_queue_entry", lambda sub_partition, leave, memory: None)
    for name in ("shared_share", "return_cycles", "part_of_trace"):
        monkeypatch.setattr(simulate, name, getattr(simulate, name).python)
    unit: Any = SimpleNamespace(free=free)
    settings: Any = SimpleNamespace(issue_cycles=4.0, register_read_latency=6.0)
    memory: Any = SimpleNamespace(
        servers=SimpleNamespace(load_store=unit), settings=SimpleNamespace(load_store=settings),
        store_queue=SimpleNamespace(last=np.zeros(4)), issue_free=np.zeros(4),
        products=no_products(4),
    )  # fmt: skip
    code: Any = SimpleNamespace(
        kind=np.array([Kind.SHUFFLE]), latency=np.array([23.0]), lane_bytes=np.array([4]), bypasses_l1=np.array([0]),
        swaps=np.array([0]),
    )
    position, first, stop = np.zeros((3, 4), np.int64)
    warps: Any = SimpleNamespace(position=position, first=first, stop=stop)
    blocks: Any = SimpleNamespace(wake=np.zeros(4), wave=np.zeros(1, np.int64))
    work: Any = SimpleNamespace(code=code, warps=4, words=np.zeros(1, np.uint32))
    done, *_ = simulate.serve_memory_instruction.python(0, 0, 10.0, warps, blocks, work, memory)
    assert done == left_at + 23
    assert unit.free == left_at + 1
    assert memory.issue_free[0] == 11 + 4
