"""pytest plugin: the fixture `warplens`.

    def test_copy(warplens):
        run = warplens.launch("copy.cu", "ccopy")
        run.check("gld_efficiency >= 95", "spills == 0")

pytest loads this module in every run, so what is needed is imported by the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from warplens.testing.kernel_tester import KernelTester


@pytest.fixture
def warplens() -> KernelTester:
    """Compiles and launches kernels on the CPU; counts are the same on every machine."""
    from warplens.testing.kernel_tester import KernelTester

    return KernelTester()
