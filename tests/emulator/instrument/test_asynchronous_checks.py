"""Checks of asynchronous operations: proxy fences, reads that are not waited for, swizzles, mbarriers; both lines."""

from __future__ import annotations

import pytest

import warplens as wl
from helpers.asynchronous_launches import awaited, copied, line, ring, shifted, stored
from warplens.core.hazard import Hazard

TIERS = ()  # whatever runs them in production
CHECK = ("all",)


def places(hazard: Hazard) -> list[str]:
    found = [party.at.source for party in hazard.parties]
    return [f"{source.file.rsplit('/', 1)[-1]}:{source.line}" for source in found if source]


@pytest.mark.parametrize("fences", [1, 2])
def test_a_fence_before_or_after_the_barrier(fences: int) -> None:
    assert stored(fences, check=CHECK).hazards == ()


def test_a_product_of_what_no_fence_has_followed() -> None:
    first, second = stored(0, check=CHECK).hazards
    assert first.message == (
        "a wgmma reads byte 0x0 of shared memory after an ordinary write with no fence.proxy.async between: "
        "it may read what was there before"
    )
    assert (first.check, first.severity) == ("races", "error")
    assert places(first) == [line("memory[threadIdx.x] = make_uint4(0x3f80"), line("MULTIPLY(d, fields")]
    assert places(second) == [line("memory[128 + threadIdx.x % 16]"), line("MULTIPLY(d, fields")]


def test_copies_that_are_fenced_and_waited_for() -> None:
    assert copied(check=CHECK).hazards == ()


def test_a_copy_of_what_no_fence_has_followed() -> None:
    (hazard,) = copied(fenced=False, check=CHECK).hazards
    assert hazard.message.startswith("a bulk copy reads byte ")
    assert places(hazard) == [line("memory[threadIdx.x] = make_uint4(n"), line("cp.async.bulk.global.shared::cta")]


def test_a_write_of_what_a_copy_still_reads() -> None:
    (hazard,) = copied(waits=False, check=CHECK).hazards
    assert "that a bulk copy may still read: no cp.async.bulk.wait_group, " in hazard.message
    assert places(hazard) == [line("cp.async.bulk.global.shared::cta"), line("memory[threadIdx.x] = make_uint4(n")]


def test_a_ring_is_clean() -> None:
    assert ring(3, check=CHECK).hazards == ()


def test_one_thread_waits_for_its_warpgroup() -> None:
    assert ring(3, early=2, check=CHECK).hazards == ()


def test_a_stage_given_back_before_its_product_is_done() -> None:
    (hazard,) = ring(3, early=1, check=CHECK).hazards
    assert (hazard.check, hazard.severity) == ("races", "error")
    assert "that a wgmma may still read: no wgmma.wait_group, with a barrier after it, comes before" in hazard.message
    assert places(hazard) == [line("MULTIPLY(d, at, at)"), line("LOAD(memory + shift")]


@pytest.mark.parametrize(
    ("swizzle", "read", "words"),
    [(128, 64, "a 64-byte swizzle, but was written with a 128-byte"), (128, 0, "no swizzle, but was written with a 1")],
)
def test_a_swizzle_that_disagrees(swizzle: int, read: int, words: str) -> None:
    (hazard,) = ring(swizzle=swizzle, read=read, check=CHECK).hazards
    assert hazard.severity == "error"
    assert words in hazard.message
    assert places(hazard) == [line("LOAD(memory + shift"), line("MULTIPLY(d, at, at)")]


def test_a_box_that_begins_within_its_swizzle() -> None:
    (hazard,) = ring(shift=8, check=CHECK).hazards
    assert hazard.severity == "note"
    assert "a box with a 128-byte swizzle lies at byte 0x480 of shared memory, no multiple of 1,024" in hazard.message
    assert places(hazard) == [line("LOAD(memory + shift")]


# mbarriers


def test_an_mbarrier_is_clean() -> None:
    assert awaited(check=CHECK).hazards == ()
    assert awaited("two lives", check=CHECK).hazards == ()


def test_a_barrier_is_no_wait_for_a_copy() -> None:
    (hazard,) = awaited("no wait", check=CHECK).hazards
    assert "shared memory to which a bulk copy may still write: no wait at its mbarrier comes before" in hazard.message
    assert places(hazard) == [line("LOAD(memory, map, 0, at)"), line("out[threadIdx.x] = memory[threadIdx.x]")]


def test_an_mbarrier_initialized_twice() -> None:
    (hazard,) = awaited("two inits", check=CHECK).hazards
    assert hazard.message == "the mbarrier at byte 0x0 of shared memory is initialized again without inval"
    assert (hazard.check, hazard.severity) == ("barriers", "warning")
    assert len({*places(hazard)}) == 2


@pytest.mark.parametrize(
    ("fault", "message", "init"),
    [
        ("no init", "the mbarrier at byte 0x0 of shared memory was never initialized (", None),
        ("unseen init", "initialization of the mbarrier at byte 0x0 of shared memory", "INIT(at, 64)"),
        ("stored over", "byte 0x0 of shared memory, written before by something else, is used as an mbarrier", "~0ull"),
    ],
)
def test_a_hang_with_what_was_found_before(fault: str, message: str, init: str | None) -> None:
    with pytest.raises(wl.KernelFault) as hang:
        awaited(fault, check=CHECK, budget=1 << 22)
    (found, *_) = (text for text in str(hang.value).splitlines() if message in text)
    assert found.startswith("  --check found: ")
    assert init is None or line(init) in found


# Warpgroups


def test_setmaxnreg_by_half_a_warpgroup() -> None:
    assert shifted(check=CHECK).hazards == ()
    (hazard,) = shifted(2, check=CHECK).hazards
    assert (hazard.check, hazard.severity) == ("barriers", "error")
    assert hazard.message.startswith("setmaxnreg not executed alike by all warps of a warpgroup: not by warp ")
    assert places(hazard) == [line("setmaxnreg.dec")]


def test_a_product_by_three_warps() -> None:
    (hazard,) = stored(1 | 4, check=CHECK).hazards
    assert hazard.message == "wgmma not executed alike by all warps of a warpgroup: not by warp 3"
    assert places(hazard) == [line("MULTIPLY(d, fields")]
