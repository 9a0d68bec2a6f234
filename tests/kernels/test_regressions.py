"""What random programs (tests/random_programs) found wrong in the executor, each in a few lines."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.kernel_launches import same, written


def test_immediate_of_a_64_bit_conversion_is_its_high_word(arch: str) -> None:
    """`I2F.U64 R0,0x78000000` converts 0x7800000000000000; found by seed 4021, sm_90."""
    code = written(
        'extern "C" __global__ void k(float *out) { out[threadIdx.x] = (float)__brevll(0x1eull); }', "k", arch
    )
    out = np.zeros(2, np.float32)
    code.launch(1, 2, out)
    same(out, np.full(2, 0x7800000000000000, np.float32))


def test_a_thread_leaves_by_guard_and_predicate(arch: str) -> None:
    """`@P0 EXIT P1`, P2R and R2UR with a predicate: conditions of an early return joined, masks kept over a loop."""
    source = """
    extern "C" __global__ void k(const unsigned *in, unsigned *out) {
      unsigned i = threadIdx.x, x = in[i], mask = ~0u;
      for (unsigned n = 0;; ++n) {
        bool more = n < (x & 7u);
        mask = __ballot_sync(mask, more);
        if (!more) break;
        out[i] = out[i] * 3u + mask + n;
        if (n > 4u && (x & 64u) && (x & 8u || out[i] & 1u)) return;
      }
      out[i] ^= 0x80000000u;
    }"""
    x = np.arange(32, dtype=np.uint32) * np.uint32(2654435761) >> np.uint32(9)
    got, want = np.zeros(32, np.uint32), np.zeros(32, np.uint64)
    written(source, "k", arch).launch(1, 32, x, got)
    on = np.ones(32, bool)  # not yet returned
    for n in range(8):
        more = on & (n < x % 8)
        mask = sum(1 << lane for lane in np.flatnonzero(more).tolist())
        want[more] = (want[more] * 3 + mask + n) % (1 << 32)
        on &= ~(more & (n > 4) & (x & 64 > 0) & ((x & 8 > 0) | (want % 2 == 1)))
    want[on] ^= np.uint64(0x80000000)
    same(got, want.astype(np.uint32))


def test_part_of_a_parameter_keeps_its_sign(arch: str) -> None:
    """`ULDC.S8` on sm_75; elsewhere the word is loaded, and a byte taken from it."""
    source = """
    struct Pair { short low, high; };
    extern "C" __global__ void k(int n, Pair pair, const signed char *table, int *out) {
      out[0] = (signed char)n;
      out[1] = (unsigned char)n;
      out[2] = (short)n;
      out[3] = pair.low;
      out[4] = pair.high;
    }"""
    out = np.zeros(5, np.int32)
    pair = np.array((-2, -3), np.dtype([("low", "i2"), ("high", "i2")]))
    written(source, "k", arch).launch(1, 1, 0x1234_89AB, pair, None, out)
    same(out, np.array([0xAB - 256, 0xAB, 0x89AB - 65536, -2, -3], np.int32))


@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
def test_a_constant_half_from_a_float(target: str) -> None:
    """`HADD2 R2, -RZ.H0_H0, c[0x2][0x0].F32` makes 0x5a2d of 197.625."""
    source = """extern "C" __global__ void k(unsigned short *out, int n) {
      for (int y = threadIdx.y; y < n; y++) out[(y + blockIdx.y * n) * 2 + 1] = 58612269u;
    }"""
    code = written(source, "k", target)
    assert target != "sm_75" or any(i.base == "HADD2" and ".F32" in i.text for i in code.program.instructions)
    out = np.zeros(8, np.uint16)
    code.launch(1, 1, out, 4)
    same(out, np.array([0, 0x5A2D] * 4, np.uint16))


@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
def test_the_rest_of_the_listing_of_divisions(target: str) -> None:
    """`I2F.U16.RZ` in divisions of shorts: seeds 20929, 22397, 23904 and 24034."""
    source = """extern "C" __global__ void k(const unsigned short *in, unsigned short *out) {
      unsigned i = threadIdx.x;
      out[i] = in[i] / (unsigned short)(in[i + 1] | 1);
      out[i + 32] = in[i] % (unsigned short)(in[i + 1] | 1);
    }"""
    x = (np.arange(33, dtype=np.uint64) * np.uint64(2654435761) >> np.uint64(7)).astype(np.uint16)
    code = written(source, "k", target)
    assert "I2F.U16.RZ" in {i.opcode for i in code.program.instructions}
    out = np.zeros(64, np.uint16)
    code.launch(1, 32, x, out)
    same(out, np.concatenate([x[:-1] // (x[1:] | 1), x[:-1] % (x[1:] | 1)]))
