"""Control codes against words worked out by hand from a listing (upper 64 bits of each instruction)."""

from __future__ import annotations

import pytest

from warplens.core.program import Control
from warplens.sass import control


@pytest.mark.parametrize(
    ("upper", "expected"),
    [
        (0x000FE20000000800, Control(1, False, None, None, 0)),  # LDC R1
        (0x000E2E0000002100, Control(7, False, 0, None, 0)),  # S2R R0: result on scoreboard 0
        (0x001FE2000F8E0200, Control(1, False, None, None, 1)),  # IMAD waits for scoreboard 0
        (0x000FC80000000800, Control(4, True, None, None, 0)),  # ULDC
        (0x000FDA000BF06270, Control(13, True, None, None, 0)),  # ISETP, 13 cycles to the branch
        (0x002FCA00078E0204, Control(5, True, None, None, 2)),  # IMAD.WIDE waits for scoreboard 1
        (0x004FCA0008000007, Control(5, True, None, None, 4)),  # FFMA waits for scoreboard 2
        (0x0003E20000000000, Control(1, False, None, 1, 0)),  # a store: sources read on scoreboard 1
    ],
)
def test_control(upper, expected):
    assert control(upper << 64 | 0xFFFFFFFF_FFFFFFFF) == expected
