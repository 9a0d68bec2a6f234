"""Every pattern of addresses, counted by the executor and by coalescing_reference.py."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.coalescing_reference import Counted, global_access, local_access, shared_access
from helpers.kernel_launches import written
from warplens.run import Run

TYPES = {1: "char x", 2: "short x", 4: "int x", 8: "int x, y", 16: "int x, y, z, w"}
SOURCE = """
struct alignas(SIZE) T { MEMBERS; };
#define BLOCK int i = threadIdx.x, k = index[blockIdx.x * 32 + i]; \\
  bool on = masks[blockIdx.x] >> i & 1; in += 1024 * blockIdx.x; out += 1024 * blockIdx.x;
#define TAKES (const int *index, const unsigned *masks, const T *in, T *out, int one)
extern "C" __global__ void global_load TAKES {
  BLOCK
  if (!on) return;
  out[i] = in[k];  // here
}
extern "C" __global__ void global_store TAKES {
  BLOCK
  if (on)
    out[k] = in[i];  // here
}
extern "C" __global__ void shared_load TAKES {
  __shared__ T s[1024];
  BLOCK
  for (int j = i; j < 1024; j += 32) s[j] = in[j];
  __syncwarp();
  if (!on) return;
  out[i] = s[k];  // here
}
extern "C" __global__ void shared_store TAKES {
  __shared__ T s[1024];
  BLOCK
  for (int j = i; j < 1024; j += 32) s[j] = out[j];
  __syncwarp();
  if (on)
    s[k] = in[i];  // here
  __syncwarp();
  for (int j = i; j < 1024; j += 32) out[j] = s[j];
}
extern "C" __global__ void local_load TAKES {
  T own[32];
  BLOCK
  for (int j = 0; j < 32; j++) own[j * one & 31] = in[j + i];
  if (!on) return;
  out[i] = own[k & 31];  // here
}
"""
OPCODE = {"global_load": "LDG", "global_store": "STG", "shared_load": "LDS", "shared_store": "STS", "local_load": "LDL"}
Pattern = tuple[NDArray[Any], int]


def here(run: Run, name: str) -> Counted:
    """What the access marked `here` counted."""
    lines = SOURCE.splitlines()
    start = lines.index(f'extern "C" __global__ void {name} TAKES {{')
    line = next(n for n, text in enumerate(lines, 1) if n > start and "// here" in text)
    program, trace = run.kernel.program, run.trace
    found = [i for i in program.instructions if i.base == OPCODE[name] and i.source and i.source.line == line]
    (at,) = (i.index for i in found)
    return Counted(**{column: int(getattr(trace, column)[at]) for column in asdict(Counted())})


def patterns(rng: np.random.Generator, count: int) -> Iterator[tuple[NDArray[Any], int]]:
    """(index of each lane, mask of active lanes), indices below 1024."""
    lane = np.arange(32)
    for _ in range(count):
        base, other, step, row = (int(rng.integers(0, n)) for n in (64, 600, 32, 40))
        reach = int(rng.choice([2, 5, 32, 33, 64, 200, 1024]))
        shapes = [
            base + lane,
            base + lane[::-1],
            base + lane * step,
            base + lane[::-1] * step,
            base % 32 + lane * 32,
            np.full(32, base),
            rng.integers(0, reach, 32),
            np.sort(rng.integers(0, reach, 32)),
            base + rng.permutation(32),
            base + lane // 2 ** (step % 6),
            base + lane % (step + 1),
            base + (lane ^ step),
            base + lane % 16 + lane // 16 * row,  # two rows, as of a tile 16 wide
            base + lane // 16 + lane % 16 * row,
            np.where(lane < 16, base + lane, other),
            np.where(lane < 16, other, base + lane),
            np.where(lane < 16, base, other),
            base + lane % 8 * row + lane // 8,
            base + lane % 4 + lane // 4 * row,
            np.where(lane % 2 == 0, base, other + lane),
        ]
        masks = [
            0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, int(rng.integers(0, 2**32)), 1 << base % 32, 0xFFFF, 0xFFFF0000,
            0x55555555, (1 << step) - 1, 0,
        ]  # fmt: skip
        yield shapes[rng.integers(len(shapes))].astype(np.int32), int(rng.choice(masks))


def active(mask: int) -> list[int]:
    return [lane for lane in range(32) if mask >> lane & 1]


def expected(name: str, size: int, pattern: Pattern) -> Counted:
    index, mask = pattern
    if name == "local_load":
        return local_access({lane: int(index[lane]) % 32 * size for lane in active(mask)}, size)
    places = {lane: int(index[lane]) * size for lane in active(mask)}
    if name.startswith("global"):
        return global_access(list(places.values()), size)
    return shared_access(places, size, name.endswith("load"))


def moved(name: str, pattern: Pattern, source: NDArray[Any], out: NDArray[Any]) -> NDArray[Any]:
    """What the block leaves in `out`.  Of lanes that store to one place, the lowest wins."""
    index, mask = pattern
    after = out.copy()
    for lane in reversed(active(mask)):
        match name:
            case "global_load" | "shared_load":
                after[lane] = source[index[lane]]
            case "local_load":
                after[lane] = source[index[lane] % 32 + lane]
            case _:
                after[index[lane]] = source[lane]
    return after


def launched(name: str, size: int, chosen: Sequence[Pattern], seed: int) -> tuple[Counted, NDArray[Any], NDArray[Any]]:
    """One block a pattern: what was counted, what is there, what should be."""
    rng = np.random.default_rng(seed)
    source, out = (rng.integers(0, 256, (len(chosen), 1024, size), dtype=np.uint8) for _ in range(2))
    want = np.stack([moved(name, p, s, o) for p, s, o in zip(chosen, source, out, strict=True)])
    index, masks = np.stack([i for i, _ in chosen]), np.array([m for _, m in chosen], np.uint32)
    code = written(SOURCE.replace("SIZE", str(size)).replace("MEMBERS", TYPES[size]), name)
    run = code.launch(len(chosen), 32, index, masks, source, out, 1)
    return here(run, name), out, want


def total(counted: Sequence[Counted]) -> Counted:
    return Counted(**{c: sum(getattr(one, c) for one in counted) for c in asdict(Counted())})


def check(name: str, size: int, seed: int, count: int) -> None:
    chosen = list(patterns(np.random.default_rng(100 * seed + size), count))
    got, out, want = launched(name, size, chosen, seed)
    np.testing.assert_array_equal(out, want)
    if got != total([expected(name, size, p) for p in chosen]):
        for pattern in chosen:  # which one it was
            assert launched(name, size, [pattern], seed)[0] == expected(name, size, pattern), pattern
        raise AssertionError("every pattern is right alone, their sum is not")


@pytest.mark.every(3)
@pytest.mark.parametrize("size", TYPES)
@pytest.mark.parametrize("name", OPCODE)
def test_patterns(name: str, size: int) -> None:
    for seed in range(2):
        check(name, size, seed, 50)


@pytest.mark.long
@pytest.mark.parametrize("size", TYPES)
@pytest.mark.parametrize("name", OPCODE)
def test_thousands_of_patterns(name: str, size: int) -> None:
    for seed in range(2, 52):
        check(name, size, seed, 50)
