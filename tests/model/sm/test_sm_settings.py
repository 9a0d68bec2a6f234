"""Settings of the simulated SM that depend on the launch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from warplens.machine import machine
from warplens.model.sm.sm_settings import _l2


@pytest.mark.every(3)
@pytest.mark.parametrize(("share", "hot"), [(0.01, True), (0.99, True), (1.01, False), (4.0, False)])
def test_what_fits_into_the_hot_part_of_l2_is_read_at_its_rate(share: float, hot: bool) -> None:
    h200 = machine("h200")
    supply: Any = SimpleNamespace(reached=share * h200.speeds.hot_bytes / 32)  # sectors
    settings = _l2(h200, 1.0, 1.0, supply)
    assert settings.read_bytes == (h200.speeds.l2_read_hot if hot else h200.speeds.l2_read)
