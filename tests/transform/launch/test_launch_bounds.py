"""Launch bounds: the block size is declared, and more blocks than fit where occupancy is low."""

from __future__ import annotations

from transform.proposals import changes_of, diffs, facts
from warplens.transform import KernelSource
from warplens.transform.launch.launch_bounds import launch_bounds

PLAIN = "__global__ void f(float* x) {\n  x[threadIdx.x] = 1;\n}\n"


def test_the_block_size_is_declared() -> None:
    (change,) = changes_of(launch_bounds, PLAIN, facts(block=128))
    assert change.promise == "blocks of at most 128 threads"
    assert diffs(launch_bounds, PLAIN, facts(block=128)) == [
        "-__global__ void f(float* x) {\n+__global__ void __launch_bounds__(128) f(float* x) {"
    ]


def test_low_occupancy_asks_for_more_blocks_than_fit() -> None:
    found = changes_of(launch_bounds, PLAIN, facts(block=256, resident=3, faults=frozenset({"low_occupancy"})))
    assert [change.title.partition(": ")[2] for change in found] == [
        "__launch_bounds__(256)", "__launch_bounds__(256, 4)", "__launch_bounds__(256, 6)", "__launch_bounds__(256, 8)",
    ]  # fmt: skip


def test_declared_bounds_stay() -> None:
    assert changes_of(launch_bounds, PLAIN.replace("void f", "void __launch_bounds__(64) f"), facts()) == []


def test_bounds_may_stand_before_global() -> None:
    bounded = f"__launch_bounds__(64) {PLAIN}"
    assert changes_of(launch_bounds, bounded, facts()) == []
    assert KernelSource(bounded, "f").parameters[0].name == "x"
