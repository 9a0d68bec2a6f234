"""Times between events, with a driver that only keeps time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from cuda.bindings import driver

from warplens.hardware import event_timing


@pytest.mark.parametrize("cold", [True, False])
def test_one_launch_between_two_events_in_microseconds(cold: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(event_timing, "check", lambda answer: answer)
    monkeypatch.setattr(driver, "cuEventCreate", lambda flags: object())
    monkeypatch.setattr(driver, "cuEventRecord", lambda event, stream: done.append("event"))
    monkeypatch.setattr(driver, "cuEventElapsedTime", lambda start, end: 0.25)
    monkeypatch.setattr(driver, "cuEventDestroy", lambda event: done.append("destroyed"))
    bench: Any = event_timing._Bench.__new__(event_timing._Bench)
    stream = SimpleNamespace(handle=0, sync=lambda: None)
    bench.ready = SimpleNamespace(buffers=[], stream=stream, start=lambda: done.append("launch"))
    bench.first, bench.swept, bench.sink, bench.bytes = [], None, None, 1 << 20
    bench._copy = lambda *buffers: None
    bench._start = lambda name, *rest: done.append(name)
    bench._sync = lambda wait: wait()
    assert bench.once(cold) == 250.0  # cuEventElapsedTime gives milliseconds
    before = "sweep" if cold else "launch"
    assert done == [before, "event", "launch", "event", "destroyed", "destroyed"]
