"""A block that hangs: which mbarrier, in which state, with the lines that wait and those that changed it last."""

from __future__ import annotations

import pytest

import warplens as wl
from helpers.asynchronous_launches import awaited, line, shifted

BUDGET = 1 << 22


def hang(fault: str) -> str:
    with pytest.raises(wl.KernelFault) as found:
        awaited(fault, budget=BUDGET)
    return str(found.value)


@pytest.mark.parametrize(
    ("fault", "missing"),
    [
        ("few arrivals", "4 of 64 arrivals missing"),
        ("few bytes", "2,048 bytes missing"),
        ("many bytes", "1,024 more bytes have arrived than were expected"),
        ("other phase", "64 of 64 arrivals missing"),
        ("no init", "it was never initialized"),
    ],
)
def test_what_is_missing(fault: str, missing: str) -> None:
    assert f"awaited hangs: a phase of an mbarrier is never over: {missing}\n" in hang(fault)


def test_all_lines_of_an_mbarrier() -> None:
    wait, state, *changes = hang("few arrivals").splitlines()[1:-1]
    assert wait.startswith("  waited for by warps 0-1 at ")
    assert line("WAIT(at") in wait
    assert state == "  the mbarrier is at byte 0x0 of shared memory; its phase has parity 0"
    begun, arrived, copied = changes
    assert begun.startswith("  initialized at ")
    assert line("INIT(at, 64)") in begun
    assert line("ARRIVE(at)") in arrived
    assert line("LOAD(memory, map, 0, at)") in copied


def test_the_parity_of_another_phase() -> None:
    """One warp has gone on; the other waits for the phase after."""
    assert "its phase has parity 1" in hang("other phase")


def test_registers_that_nobody_gives_back() -> None:
    with pytest.raises(wl.KernelFault) as found:
        shifted(1, budget=BUDGET)
    why, waits, given, _ = str(found.value).splitlines()
    assert why.endswith("others wait for: 200 registers a thread are wanted, 0 are free, no warp gave back any")
    assert waits.startswith("  waited for by warps 4-11 at ")
    assert line("setmaxnreg.inc") in waits
    assert given.startswith("  registers are given back at ")
    assert line("setmaxnreg.dec") in given
