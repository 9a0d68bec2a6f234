"""Kernels of many kinds: what they leave, beside the same in numpy."""

from __future__ import annotations

import binascii
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl
from helpers.execution_tiers import pytest_generate_tests, tier
from helpers.kernel_launches import kernel, same
from warplens.errors import KernelFault

__all__ = ["pytest_generate_tests", "tier"]

SPACES = """
extern "C" __global__ void spaces(const int* p, int* o) {
  __shared__ int s[4];
  int l[4] = {o[0], o[1], o[2], o[3]}, q[4];
  const int* a = threadIdx.x == 0 ? p : threadIdx.x == 1 ? s : l + (o[0] & 3);
  s[threadIdx.x] = 0;
#define ASK(N, WHAT) \\
  asm volatile("{.reg .pred t; isspacep." WHAT " t, %1; selp.s32 %0, 1, 0, t;}" : "=r"(q[N]) : "l"(a));
  ASK(0, "shared") ASK(1, "shared::cluster") ASK(2, "global") ASK(3, "local")
  o[threadIdx.x] = q[0] | q[1] << 1 | q[2] << 2 | q[3] << 3 | (*a & 0x10);
}
"""

TRIES = """
extern "C" __global__ void tries(const int* tries, int* done, unsigned* log, unsigned* cell) {
  int lane = threadIdx.x, n = 0;
  unsigned* mine = log + blockIdx.x * 32 * 48 + lane;
  for (int k = 0; k < 3; ++k) {
    int left = tries[(blockIdx.x * 3 + k) * 32 + lane];
    while (true) {
      unsigned old = atomicCAS(&cell[blockIdx.x * 32 + lane], 7u, 8u);
      if (n < 48) mine[32 * n++] = 1;
      if (old == 5u || --left <= 0) break;
    }
    if (n < 48) mine[32 * n++] = 2;
  }
  __syncwarp();
  done[blockIdx.x * 32 + lane] = n;
}
"""


def numbers(n: int, high: int, seed: int = 0, dtype: Any = np.uint32) -> NDArray[Any]:
    return np.random.default_rng(seed).integers(0, high, n).astype(dtype)


def test_spaces_of_generic_addresses() -> None:
    """As an H200 answers: one's own shared memory is shared memory of the cluster, too."""
    for since_hopper in ("sm_90", "sm_120"):
        places = np.zeros(4, np.int32)
        wl.compile(source=SPACES, arch=since_hopper)["spaces"].launch(1, 3, np.zeros(4, np.int32), places)
        assert places[:3].tolist() == [4, 3, 8]


def test_waits_at_a_barrier_in_memory_are_counted_once() -> None:
    """mbarrier.try_wait: 1,428 instructions of 12 warps on an H200."""
    x, y = numbers(384, 1000, dtype=np.int32), np.zeros(384, np.int32)
    run = kernel("field_library.cu", "barrier_phases", "sm_90").launch(3, 128, x, y, 4)
    v, kept = x.reshape(3, 128), x.reshape(3, 128)
    for k in range(4):
        kept, v = kept * 3 + 1, v + np.roll(v, -1 - k, axis=1)
    same(y, (v ^ kept).reshape(-1))
    assert run["smsp__inst_executed.sum"] == 1428


def test_lanes_that_leave_a_loop_of_tries_at_different_times(arch: str) -> None:
    """Some of these hung: lanes that a YIELD let go were waited for in the round before."""
    keys, found = numbers(64 * 30, 100000), np.zeros(64 * 30, np.int32)
    kernel("field_data.cu", "hash_warp", arch).launch(30, 32, keys, keys.copy(), found)
    assert (found > 0).all()


def test_loops_of_tries_one_after_the_other() -> None:
    """Blocks of these hung: lanes came to wait at a BSYNC for others that had given way and had since passed it."""
    each, done = numbers(64 * 3 * 32, 6, dtype=np.int32) + np.int32(1), np.zeros(64 * 32, np.int32)
    room = [np.zeros(64 * 32 * n, np.uint32) for n in (48, 1)]
    wl.compile(source=TRIES, arch="sm_90")["tries"].launch(64, 32, each, done, *room)
    same(done, (each.reshape(64, 3, 32).sum(axis=1) + 3).astype(np.int32).reshape(-1))


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_a_loop_that_is_left_by_a_call(target: str) -> None:
    """On sm_80 to sm_89 the way out of the loop is CALL.REL.NOINC, which was no code that could be reached."""
    table, names, first = numbers(600, 9, dtype=np.float32), numbers(28, 20, 1, np.int32), numbers(7, 4, 2, np.int32)
    sums = np.zeros((6, 30), np.float32)
    kernel("field_layers.cu", "embedding_bag", target).launch(6, 32, table, names, first, sums, 30)
    bags = [names[b * 4 + first[b] : (b + 1) * 4 + first[b + 1]] for b in range(6)]
    same(sums, np.array([table.reshape(20, 30)[bag].sum(axis=0) for bag in bags], np.float32))


def test_crc_of_records(arch: str) -> None:
    data, lengths = numbers(600 * 37, 256, dtype=np.uint8), numbers(600, 37, 1, np.int32)
    crc = np.zeros(600, np.uint32)
    kernel("field_bytes.cu", "crc_records", arch).launch(3, 256, data, lengths, crc, 37, 600)
    records = zip(data.reshape(600, 37), lengths, strict=True)
    same(crc, np.array([binascii.crc32(record[:length].tobytes()) for record, length in records], np.uint32))


@pytest.mark.long
def test_sha_256(arch: str) -> None:
    """Of empty messages: a block of 16 words with the padding only."""
    words, digest = np.zeros((16, 64), np.uint32), np.zeros((8, 64), np.uint32)
    words[0] = 1 << 31
    kernel("field_bytes.cu", "sha256_block", arch).launch(1, 128, words, digest, 64)
    want = np.frombuffer(hashlib.sha256(b"").digest(), ">u4").astype(np.uint32)
    same(digest, np.repeat(want[:, None], 64, axis=1))


@pytest.mark.long
@pytest.mark.parametrize(("name", "grid", "block"), [("bitonic_pairs", 6, 512), ("cub_sort", 6, 128)])
def test_sorts(arch: str, name: str, grid: int, block: int) -> None:
    x, pairs = numbers(1024 * grid, 65536), name == "bitonic_pairs"
    y = np.zeros(1024 * grid, np.uint64 if pairs else np.uint32)
    kernel("field_data.cu" if pairs else "field_cub.cu", name, arch).launch(grid, block, x, y)
    keys = x.astype(np.uint64) << 32 | np.tile(np.arange(1024, dtype=np.uint64), grid) if pairs else x
    same(y, np.sort(keys.reshape(grid, 1024), axis=1).reshape(-1).astype(y.dtype))


@pytest.mark.long
def test_scan_in_one_pass(arch: str) -> None:
    x, y = numbers(10007, 1000, dtype=np.int32), np.zeros(10007, np.int32)
    state, ticket = np.zeros(40, np.uint64), np.zeros(1, np.uint32)
    kernel("field_data.cu", "scan_single_pass", arch).launch(40, 256, x, y, state, ticket, 10007)
    same(y, np.cumsum(x, dtype=np.int32))


@pytest.mark.long
def test_merge_path(arch: str) -> None:
    a, b = np.sort(numbers(3001, 9000, 1, np.int32)), np.sort(numbers(5000, 9000, 2, np.int32))
    c = np.zeros(8001, np.int32)
    kernel("field_data.cu", "merge_path", arch).launch(9, 128, a, b, c, 3001, 5000)
    same(c, np.sort(np.concatenate([a, b])))


@pytest.mark.long
def test_dp4a_product(arch: str) -> None:
    a, b = (numbers(160 * 160, 256, k, np.uint8).view(np.int8).reshape(160, 160) for k in (1, 2))
    c = np.zeros((160, 160), np.int32)
    kernel("field_matrices.cu", "gemm_dp4a", arch).launch((5, 5), (32, 8), a, b, c, 160)
    same(c, a.astype(np.int32) @ b.astype(np.int32).T)


@pytest.mark.long
def test_edit_distance(arch: str) -> None:
    words, texts = numbers(21 * 32, 256, 1, np.uint8), numbers(21 * 40, 256, 2, np.uint8)
    found, want = np.zeros(21, np.int32), []
    kernel("field_bytes.cu", "edit_distance", arch).launch(6, 128, words, texts, found, 40, 21)
    for word, text in zip(words.reshape(21, 32) & 3, texts.reshape(21, 40) & 3, strict=True):
        row = list(range(33))
        for letter in text:
            old, row = row, [row[0] + 1]
            for i, other in enumerate(word):
                row.append(min(old[i] + int(letter != other), old[i + 1] + 1, row[i] + 1))
        want.append(row[-1])
    same(found, np.array(want, np.int32))


def test_many_waits_at_an_mbarrier_are_no_endless_loop() -> None:
    """A prediction runs some blocks again and gives them little time; 100 waits of a warp took it all."""
    x = np.arange(128, dtype=np.int32)
    run = kernel("field_library.cu", "barrier_phases", "sm_90").launch(1, 128, x, np.zeros_like(x), 50)
    assert run.predict("h200").time_us > 3


def test_registers_that_the_code_never_names_are_not_saved(tmp_path: Path) -> None:
    """`[UR6]` is an address in UR6 and UR7, and nothing else names UR7; the wait ends as a fault, not as an error."""
    source = tmp_path / "hang.cu"
    source.write_text(
        "#include <cuda/barrier>\n#include <cuda/std/utility>\n"
        "__global__ void hang(int* y) {\n"
        "  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;\n"
        "  if (threadIdx.x == 0) init(&barrier, 33);\n  __syncthreads();\n"
        "  barrier.arrive_and_wait();\n  y[threadIdx.x] = 1;\n}\n"
    )
    with pytest.raises(KernelFault, match=r"SYNCS\.PHASECHK"):
        wl.compile(source, arch="sm_90")["hang"].launch(1, 32, np.zeros(32, np.int32), budget=10_000_000)
