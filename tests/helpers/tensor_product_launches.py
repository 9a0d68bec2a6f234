"""Launches of one tcgen05.mma: matrices in shared memory as descriptors place them, D and maybe A in tensor memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import warplens as wl
from helpers.kernel_launches import written
from helpers.tensor_memory_sources import COMMON, load, store

Words = NDArray[np.uint32]
BYTES = 65536  # of shared memory: A in the first half, B in the second
OPERANDS = "[%1], %2, %3, %4"
FROM_CELLS = "[%1], [%5], %3, %4"
LEAVING = OPERANDS + ", {%8, %9, %10, %11}"
SCALES = ", [%6], [%7]"
SPARSE = "[%1], %2, %3, [%6], %4"
LEFT_COLUMN, SCALES_A, SCALES_B = 256, 384, 416  # where A and the scales lie in tensor memory
KINDS = ("f16", "tf32", "f8f6f4", "i8")
FORMS = {
    **{kind: f"kind::{kind} {OPERANDS}, q" for kind in KINDS},
    "f16 stationary": f"kind::f16 {OPERANDS}, q",
    "i8 stationary": f"kind::i8 {OPERANDS}, q",
    **{f"{kind} from cells": f"kind::{kind} {FROM_CELLS}, q" for kind in KINDS},
    **{f"{kind} sparse": f"kind::{kind} {SPARSE}, q" for kind in KINDS},
    "f16 halved": f"kind::f16 {OPERANDS}, q, 3",
    "f16 leaving": f"kind::f16 {LEAVING}, q",
    "mxf8f6f4": f"kind::mxf8f6f4.block_scale.scale_vec::1X {OPERANDS}{SCALES}, q",
    "mxf4": f"kind::mxf4.block_scale.scale_vec::2X {OPERANDS}{SCALES}, q",
    "mxf4nvf4": f"kind::mxf4nvf4.block_scale.scale_vec::4X {OPERANDS}{SCALES}, q",
}
"""tcgen05.mma behind its cta_group, by name."""


def _multiply(name: str) -> str:
    mode = {"stationary": ".ws", "sparse": ".sp"}.get(name.split()[-1], "")
    mma = f"tcgen05.mma{mode}.cta_group::1.{FORMS[name]};"
    return f"""asm volatile("{{.reg .pred q; setp.ne.b32 q, %0, 0; {mma}}}"
      :: "r"(adds), "r"(t), "l"(a + base), "l"(b + base + {BYTES // 32}), "r"(form), "r"(t + {LEFT_COLUMN}),
         "r"(t + {SCALES_A}), "r"(t + {SCALES_B}), "r"(lanes.x), "r"(lanes.y), "r"(lanes.z), "r"(lanes.w)
      : "memory");"""


def source() -> str:
    """The kernel `product`: one of FORMS, by number."""
    cases = "".join(f"case {number}: {_multiply(name)} break;\n" for number, name in enumerate(FORMS))
    return f"""{COMMON} {load("load_8", "32x32b", 8)} {store("store_8", "32x32b", 8)}
    extern "C" __global__ void product(int which, const uint4* in, unsigned long long a, unsigned long long b,
                                       unsigned form, int adds, const unsigned* given, unsigned* out, uint4 lanes) {{
      extern __shared__ __align__(1024) uint4 memory[];
      __shared__ unsigned address;
      __shared__ __align__(8) unsigned long long barrier;
      for (int i = threadIdx.x; i < {BYTES // 16}; i += 128) memory[i] = in[i];
      if (threadIdx.x < 32) allocate(&address, 512);
      const unsigned bar = shared_address(&barrier), base = shared_address(memory) >> 4;
      if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
      asm volatile("fence.proxy.async;" ::: "memory");
      asm volatile("tcgen05.fence::before_thread_sync;");
      __syncthreads();
      asm volatile("tcgen05.fence::after_thread_sync;");
      const unsigned t = address, own = t + (threadIdx.x / 32 * 32 << 16);
      #pragma unroll 1
      for (int k = 0; k < 512; k += 8) store_8(given + threadIdx.x * 512 + k, own + k);
      __syncthreads();
      if (threadIdx.x == 0) {{
        switch (which) {{{cases}
        }}
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" :: "r"(bar));
      }}
      asm volatile("{{.reg .pred q; L: mbarrier.try_wait.parity.shared.b64 q, [%0], 0; @!q bra L;}}" :: "r"(bar));
      #pragma unroll 1
      for (int k = 0; k < 256; k += 8) load_8(out + threadIdx.x * 256 + k, own + k);
      __syncthreads();
      if (threadIdx.x < 32) release(t, 512);
    }}"""


@dataclass(frozen=True)
class Format:
    """A number format: its code in the instruction descriptor, bits of an element, and elements of 16 bytes."""

    code: int
    bits: int
    each: int
    encode: Callable[[NDArray[np.float64]], NDArray[np.uint32]]


def _small(exponent: int, fraction: int) -> Callable[[NDArray[np.float64]], NDArray[np.uint32]]:
    """Encodes numbers that a format has, by the list of all of them."""
    bias = (1 << exponent - 1) - 1
    words = np.arange(1 << 1 + exponent + fraction)
    top, digits = words >> fraction & (1 << exponent) - 1, words & (1 << fraction) - 1
    size = np.where(top > 0, (digits + (1 << fraction)) * 2.0 ** (top - fraction), digits * 2.0 ** (1 - fraction))
    values = np.where(words >> exponent + fraction, -1, 1) * size * 2.0**-bias
    by_value = {float(value): int(word) for word, value in reversed(list(enumerate(values)))}
    return np.vectorize(lambda x: by_value[float(x)], otypes=[np.uint32])


def _word(dtype: Any, shift: int = 0) -> Callable[[NDArray[np.float64]], NDArray[np.uint32]]:
    return lambda x: (x.astype(dtype).view(f"u{np.dtype(dtype).itemsize}") >> shift).astype(np.uint32)


FORMATS: Mapping[str, Format] = {
    "f16": Format(0, 16, 8, _word(np.float16)),
    "bf16": Format(1, 16, 8, _word(np.float32, 16)),
    "tf32": Format(2, 32, 4, _word(np.float32)),
    "e4m3": Format(0, 8, 16, _small(4, 3)),
    "e5m2": Format(1, 8, 16, _small(5, 2)),
    "e2m3": Format(3, 6, 16, _small(2, 3)),
    "e3m2": Format(4, 6, 16, _small(3, 2)),
    "e2m1": Format(5, 4, 16, _small(2, 1)),
    "u8": Format(0, 8, 16, _word(np.uint8)),
    "s8": Format(1, 8, 16, _word(np.int8)),
    "mxf4": Format(1, 4, 32, _small(2, 1)),
}
SWIZZLES = {0: 16, 6: 32, 4: 64, 2: 128}  # the field of a descriptor, and the bytes from row to row
RESULTS = {"f16": 0, "f32": 1, "s32": 2}


@dataclass(frozen=True)
class Placed:
    """A matrix in shared memory: its bytes and its descriptor, from address 0 on."""

    content: NDArray[np.uint8]
    descriptor: int


def placed(matrix: NDArray[np.float64], form: Format, swizzle: int = 0, transposed: bool = False) -> Placed:
    """Rows of a matrix, or columns of B as rows, as the canonical layouts of the PTX ISA place them: without swizzle
    core matrices of 8 rows of 16 bytes, else rows of the swizzle's width, of which a part may be unused."""
    rows, depth = matrix.shape
    words, width = form.encode(matrix), SWIZZLES[swizzle]
    content = np.zeros(BYTES // 2, np.uint8)
    extent, lines = (rows, depth) if transposed else (depth, rows)  # along 16 bytes, and across
    chunks = -(-extent // form.each)
    per = width // 16  # chunks that lie side by side
    beside, below = width * 8, width * 8 * -(-chunks // per)  # bytes to the next chunks, to the next 8 lines
    for line in range(lines):
        for place in range(extent):
            chunk, within = divmod(place, form.each)
            at = line // 8 * below + line % 8 * width + chunk // per * beside + chunk % per * 16
            at ^= (at >> 7 & per - 1) << 4
            bit = within * form.bits
            word = int(words[place, line] if transposed else words[line, place]) << bit % 8
            for k in range((bit % 8 + form.bits + 7) // 8):
                content[at + bit // 8 + k] |= word >> 8 * k & 0xFF
    leading, stride = (beside, below) if not (transposed and swizzle == 0) else (below, beside)
    return Placed(content, leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | swizzle << 61)


@dataclass(frozen=True)
class TensorLaunch:
    """One product: what its descriptors say, and what tensor memory holds before."""

    form: str  # of FORMS
    a: NDArray[np.float64]  # rows by depth
    b: NDArray[np.float64]  # columns by depth
    kinds: tuple[str, str]
    result: str = "f32"
    swizzles: tuple[int, int] = (0, 0)
    transposed: tuple[bool, bool] = (False, False)
    negated: tuple[bool, bool] = (False, False)
    cells: Words = field(default_factory=lambda: np.zeros((128, 512), np.uint32))
    adds: bool = False
    bits: int = 0  # of the instruction descriptor, beside those of the other fields
    lanes: tuple[int, int, int, int] = (0, 0, 0, 0)
    offset: int = 0  # of B's descriptor

    def run(self) -> tuple[Words, wl.Run]:
        """The first 256 columns of tensor memory afterwards."""
        forms = [FORMATS[kind] for kind in self.kinds]
        left = placed(self.a, forms[0], self.swizzles[0], self.transposed[0])
        right = placed(self.b, forms[1], self.swizzles[1], self.transposed[1])
        flags = (*self.negated, *self.transposed)
        word = forms[0].code << 7 | forms[1].code << 10 | self.bits
        word |= sum(1 << 13 + k for k, flag in enumerate(flags) if flag)
        word |= len(self.b) // 8 << 17 | len(self.a) // 16 << 24
        word |= RESULTS[self.result] << 4 if not self.form.startswith("mx") else 0
        out = np.zeros((128, 256), np.uint32)
        content, lanes = np.concatenate([left.content, right.content]), np.array(self.lanes, np.uint32)
        kernel = written(source(), "product", "sm_100a")
        run = kernel.launch(
            1, 128, list(FORMS).index(self.form), content, np.uint64(left.descriptor),
            np.uint64(right.descriptor + self.offset), np.uint32(word), int(self.adds), self.cells, out,
            lanes.view(np.dtype([("", np.uint32)] * 4))[0], shared=BYTES,
        )  # fmt: skip
        return out, run


def small_numbers(rng: np.random.Generator, rows: int, depth: int, most: int = 3) -> NDArray[np.float64]:
    """Whole numbers, of which sums of products are exact in single precision."""
    return rng.integers(-most, most + 1, (rows, depth)).astype(np.float64)
