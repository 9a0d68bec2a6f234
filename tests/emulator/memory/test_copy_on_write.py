"""What arrays held before a kernel wrote them is put aside in stretches, and none too few."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.kernel_launches import written
from warplens.emulator.memory import device_memory
from warplens.emulator.memory.copy_on_write import BEGUN, CHUNK_BYTES, DONE, EVEN, CopyOnWrite
from warplens.errors import KernelFault

pytestmark = pytest.mark.usefixtures("every_thread_works")

WORDS = CHUNK_BYTES // 4
SOURCE = """
extern "C" __global__ void strided(int *out, int n, int step, int *never) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(long long)i * step % n] = i;
  if (never && i == n - 1) *(int *)8 = 0;
}
extern "C" __global__ void counted(int *out, int n) {
  atomicAdd(&out[(blockIdx.x * blockDim.x + threadIdx.x) * 977 % n], 1);
}
extern "C" __global__ void rows(const float *x, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = x[i] + out[i];
}
"""


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> list[CopyOnWrite]:
    """All that is put aside in a test."""
    made: list[CopyOnWrite] = []

    def noted(array: Any, few: bool) -> CopyOnWrite:
        made.append(CopyOnWrite(array, few))
        return made[-1]

    monkeypatch.setattr(device_memory, "CopyOnWrite", noted)
    return made


def stop(done: int, blocks: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.every(5)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("step", [1, 37, 12_347])  # row by row; lanes, then warps, in other stretches
@pytest.mark.parametrize("more", [0, 1, 31, 77])  # words behind the last stretch
def test_after_a_fault_what_the_blocks_before_it_wrote_stands_among_what_was_there(
    kept: list[CopyOnWrite], threads: int, step: int, more: int
) -> None:
    n = 80 * WORDS + more
    assert np.gcd(n, step) == 1  # no word is written twice
    before = np.random.default_rng(1).integers(0, 1 << 30, n, np.int32)
    array = before.copy()
    with pytest.raises(KernelFault):
        written(SOURCE, "strided").launch(-(-n // 256), 256, array, n, step, np.zeros(1, np.int32), threads=threads)
    expected, i = before.copy(), np.arange(n)
    expected[i * step % n] = i
    assert np.array_equal(array, expected)
    (backup,) = kept
    for to, source in backup.remaining_copies():
        to[:] = source
    assert np.array_equal(backup.before, before.view(np.uint8))


def mixed(n: int) -> NDArray[np.int32]:
    """Stretches of numbers, of one number, and of one number but for the first, a middle or the last."""
    found = np.random.default_rng(2).integers(0, 1 << 30, n, np.int32)
    for stretch in range(n // WORDS):
        if stretch % 5:
            found[stretch * WORDS : (stretch + 1) * WORDS] = stretch * 1_000_003
        if stretch % 5 > 1:
            found[stretch * WORDS + (0, WORDS // 2 + 7, WORDS - 1)[stretch % 5 - 2]] = 5
    return found


@pytest.mark.parametrize("kernel", ["strided", "counted"])
@pytest.mark.parametrize("threads", [1, 2])
def test_who_stops_a_launch_finds_every_byte_as_it_was(kept: list[CopyOnWrite], threads: int, kernel: str) -> None:
    n = 100 * WORDS + 5
    before = mixed(n)
    array = before.copy()
    more = (12_347, None) if kernel == "strided" else ()
    with pytest.raises(KeyboardInterrupt):
        written(SOURCE, kernel).launch(-(-n // 256), 256, array, n, *more, progress=stop, threads=threads)
    assert kept[0].done.any()
    assert np.array_equal(array, before)


def test_of_what_holds_one_word_over_and_over_only_the_word_is_kept(kept: list[CopyOnWrite]) -> None:
    n = 100 * WORDS
    array = mixed(n)
    written(SOURCE, "strided").launch(-(-n // 256), 256, array, n, 1, None, threads=1)
    (backup,) = kept
    assert [int(k) for k in np.flatnonzero(backup.done == BEGUN | DONE | EVEN)] == list(range(1, 100, 5))
    assert backup.even[1::5].tolist() == [k * 1_000_003 for k in range(1, 100, 5)]
    for to, source in backup.remaining_copies():
        to[:] = source
    assert np.array_equal(backup.before, mixed(n).view(np.uint8))


def test_only_stretches_that_are_written_are_put_aside(kept: list[CopyOnWrite]) -> None:
    array = np.zeros(100 * WORDS, np.int32)
    written(SOURCE, "strided").launch(WORDS // 128, 256, array, 2 * WORDS, 1, None, threads=1)
    assert [int(n) for n in np.flatnonzero(kept[0].done)] == [0, 1]


def test_who_jumps_about_has_it_all_put_aside_at_once(kept: list[CopyOnWrite]) -> None:
    """Also what it never comes to: each of its stores looks up 32 stretches."""
    array = np.zeros(100 * WORDS, np.int32)
    written(SOURCE, "strided").launch(32, 256, array, 50 * WORDS, WORDS + 1, None, threads=1)
    assert kept[0].done[50:].all()


@pytest.mark.parametrize("threads", [1, 2])
def test_an_array_changed_in_place_is_kept_whole_for_a_prediction(threads: int) -> None:
    x, out = np.ones(1 << 20, np.float32), np.arange(1 << 20, dtype=np.float32)
    run = written(SOURCE, "rows").launch(64, 256, x, out, 1000 * 64, threads=threads)
    assert run.again is not None
    assert np.array_equal(run.again.memory.view(1).view(np.float32), np.arange(1 << 20, dtype=np.float32))
    assert np.array_equal(out, np.arange(1 << 20) + (np.arange(1 << 20) < 64_000))
