"""What recorded warps issue is what the counters count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.core.launch import Launch
from warplens.emulator import DeviceMemory, LaunchRequest, pass_arguments, record
from warplens.emulator.state.trace_format import ENTER

LESSONS = Path(__file__).parents[2] / "kernels" / "lessons.cu"
N = 1 << 12


def arguments(kernel: str) -> tuple[tuple[int, ...], tuple[int, ...], list[object]]:
    x = np.random.default_rng(1).random(N, np.float32)
    if kernel.startswith("matmul"):
        return (4, 4), (16, 16), [x, x.copy(), np.zeros(N, np.float32), np.int32(64)]
    whole = (x * 1000).astype(np.int32)
    if kernel.startswith("reduce"):
        return (N // 256,), (256,), [whole, np.zeros(N // 256, np.int32), np.int32(N)]
    return (N // 128,), (128,), [x, np.zeros_like(x), np.int32(N)]


@pytest.mark.parametrize("name", ["ccopy", "nccopy", "matmul_tiled", "reduce_modulo", "reduce_sequential"])
def test_the_record_of_all_blocks_is_what_the_counters_say(name: str) -> None:
    kernel = wl.compile(LESSONS)[name]
    grid, block, args = arguments(name)
    run = kernel.launch(grid, block, *args)
    memory = DeviceMemory()
    _, _, fresh = arguments(name)
    passed = pass_arguments(kernel.kernel, name, fresh, (), memory)
    launch = Launch((*grid, 1, 1)[:3], (*block, 1, 1)[:3], 0)
    request = LaunchRequest(kernel.kernel, kernel.program, launch, passed.block, memory, kernel._link(memory)[0])
    streams = record(request, tuple(range(launch.blocks)))
    assert streams.whole
    executed = np.zeros(len(kernel.program.instructions), np.int64)
    sectors, wavefronts = np.zeros_like(executed), np.zeros_like(executed)
    words, at = streams.words, 0
    while at < words.size:
        word = int(words[at])
        if word & ENTER:
            inside = kernel.program.blocks[word & 0xFFFFFF]
            executed[inside.first : inside.last + 1] += 1
            at += 3
            continue
        instruction, count = word & 0xFFFFF, word >> 20 & 0xFF
        sectors[instruction] += count
        if word >> 28 == 1:
            wavefronts[instruction] += int(words[at + 1]) & 0xFF
        at += 2 + count
    assert (executed == run.trace.executed).all()
    assert (sectors == run.trace.sectors).all()
    assert (wavefronts == run.trace.wavefronts).all()
    assert sectors.any()


def test_a_log_without_room_says_so() -> None:
    kernel = wl.compile(LESSONS)["ccopy"]
    grid, block, args = arguments("ccopy")
    memory = DeviceMemory()
    passed = pass_arguments(kernel.kernel, "ccopy", args, (), memory)
    launch = Launch((*grid, 1, 1)[:3], (*block, 1, 1)[:3], 0)
    request = LaunchRequest(kernel.kernel, kernel.program, launch, passed.block, memory, kernel._link(memory)[0])
    streams = record(request, (0, 1), log_words=200)
    assert not streams.whole
    assert streams.words.size <= 200
