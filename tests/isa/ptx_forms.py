"""PTX instructions with their modifiers, and pairs of them that an assembler makes one of: kernels of one line each.

measurements/h200/ptx_forms.csv has the line, the kind of register that holds the result, and the CRC-32 of what an
H200 made of the 256 inputs below.  A line takes %r1 to %r4 (32 bits), %rd1 to %rd4 (64), %f1 to %f4 (float), %d1 to %d4
(double) and %h1 to %h4 (16 bits), and leaves its result in number 9 of one of them.

    python tests/isa/ptx_forms.py --assemble KEPT     cubins of all lines that sm_90 has
    python tests/isa/ptx_forms.py --measure KEPT      on a machine with such a GPU: writes the digests anew
"""

from __future__ import annotations

import csv
import pickle
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import warplens as wl
from warplens.compiler import assemble

T = TypeVar("T")
FILE = Path(__file__).parents[2] / "measurements" / "h200" / "ptx_forms.csv"
THREADS, BYTES = 256, 512  # of each thread: what it reads, and behind RESULT what it writes
RESULT = 128
STORED = {"r": "b32", "rd": "b64", "f": "f32", "d": "f64", "h": "b16"}
HEAD = ".version 9.0\n.target {arch}\n.address_size 64\n"
KERNEL = """.visible .entry {name}(.param .u64 a) {{
.reg .b32 %r<12>; .reg .b64 %rd<14>; .reg .f32 %f<12>; .reg .f64 %d<12>; .reg .b16 %h<12>; .reg .pred %p<4>;
ld.param.u64 %rd12, [a]; cvta.to.global.u64 %rd12, %rd12;
mov.u32 %r11, %tid.x; mul.wide.u32 %rd11, %r11, 512; add.u64 %rd12, %rd12, %rd11;
ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%rd12]; ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd12+16];
ld.global.v2.b64 {{%rd1, %rd2}}, [%rd12+32]; ld.global.v2.b64 {{%rd3, %rd4}}, [%rd12+48];
ld.global.v2.f64 {{%d1, %d2}}, [%rd12+64]; ld.global.v2.f64 {{%d3, %d4}}, [%rd12+80];
ld.global.v4.b16 {{%h1, %h2, %h3, %h4}}, [%rd12+96];
{line}
st.global.{stored} [%rd12+128], %{result}9;
ret; }}
"""


@dataclass(frozen=True)
class Form:
    number: int
    line: str
    result: str
    digest: str

    @property
    def kernel(self) -> str:
        return f"ptx{self.number}"

    @property
    def bytes(self) -> int:
        return int(STORED[self.result][1:]) // 8

    def text(self) -> str:
        return KERNEL.format(name=self.kernel, line=self.line, stored=STORED[self.result], result=self.result)


@cache
def forms() -> tuple[Form, ...]:
    with FILE.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return tuple(Form(n, row["ptx"], row["result"], row["digest"]) for n, row in enumerate(rows))


def module(chosen: Sequence[Form], arch: str) -> tuple[wl.Module | None, list[Form]]:
    """A module of those lines that the architecture has."""
    return accepted(chosen, Form.text, arch)


def accepted(chosen: Sequence[T], text_of: Callable[[T], str], arch: str) -> tuple[wl.Module | None, list[T]]:
    """A module of those kernels that the architecture has, as ptxas tells, and what they were made of."""
    left = list(chosen)
    while left:
        texts = [text_of(each) for each in left]
        try:
            return wl.load(assemble(HEAD.format(arch=arch) + "".join(texts), "lines", arch)), left
        except wl.errors.CompileError as error:
            starts = np.cumsum([HEAD.count("\n") + 1, *(text.count("\n") for text in texts)])
            told = [int(line) for line in re.findall(r"line (\d+)", str(error))]
            refused = {int(np.searchsorted(starts, line, "right")) - 1 for line in told}
            if not refused:
                raise
            left = [each for place, each in enumerate(left) if place not in refused]
    return None, []


WORDS = [
    0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF,
    0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x80000001, 0x80808080, 0x7F7F7F7F, 0xFF00FF00, 0x00FF00FF, 0x3C003C00,
    0xBC00C000, 0x7C00FC00, 0x7E01FE00, 0x0001FFFF, 0x00008000,
]  # fmt: skip
FLOATS = [
    0, 0x80000000, 1, 0x80000001, 0x7FFFFF, 0x800000, 0x807FFFFF, 0x3F800000, 0xBF800000, 0x3F000000, 0x3EFFFFFF,
    0x3F7FFFFF, 0x40000000, 0x40200000, 0xC0200000, 0x3FC00000, 0x437F0000, 0x437F8000, 0x43000000, 0xC3000000,
    0x42FE8000, 0x477FFF00, 0x47800000, 0x4EFFFFFF, 0x4F000000, 0x4F800000, 0x5F000000, 0x7F7FFFFF, 0xFF7FFFFF,
    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0x477FF000, 0x38800000, 0x33000000, 0x33800001,
    0x387FC000, 0x3727C5AC, 0x43E00000, 0x47600000, 0x4F7FFFFF,
]  # fmt: skip
DOUBLES = [
    0, 1 << 63, 1, 1 << 52, (1 << 52) - 1, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FE0000000000000,
    0x4004000000000000, 0xC004000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFE00000,
    0x43E0000000000000, 0x43F0000000000000, 0x47EFFFFFE0000000, 0x47EFFFFFEFFFFFFF, 0x36A0000000000000,
    0x3690000000000001, 0x380FFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000,
    0x7FF8000000000000, 0xFFF8000012345678, 0x7FF0000000000001, 0x40EFFC0000000000, 0x3FD5555555555555,
]  # fmt: skip
HALVES = [
    0, 0x8000, 1, 0x8001, 0x3FF, 0x400, 0x83FF, 0x3C00, 0xBC00, 0x3800, 0x37FF, 0x3BFF, 0x4000, 0x4100, 0xC100, 0x3E00,
    0x5BF8, 0x5C00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0,
    0x0080, 0x007F, 0x7F7F, 0x4049, 0x7FFF, 0xFFFF,
]  # fmt: skip
LONGS = [
    *DOUBLES[:3], 2, 3, 7, 0xFF, 0xFFFF, 0xFFFFFFFF, 0x100000000, 0x7FFFFFFF, 0x80000000, 0x7FFFFFFFFFFFFFFF,
    0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFE, 0x8000000000000001, 0xFFFFFFFF00000000, 0x123456789ABCDEF0,
]  # fmt: skip


@cache
def inputs() -> NDArray[np.uint8]:
    """Corners and random numbers, a little more of the first."""
    rng = np.random.default_rng(11)
    memory = np.zeros((THREADS, BYTES), np.uint8)

    def bits(below: int, kind: type[Any]) -> NDArray[Any]:
        wide = np.uint64 if kind is np.uint64 else np.uint32 if kind is np.uint32 else np.int64
        return rng.integers(0, below, THREADS, wide).astype(kind)

    def put(at: int, corners: list[int], numbers: NDArray[Any]) -> None:
        chosen = np.array(corners, np.uint64).astype(numbers.dtype)[rng.integers(0, len(corners), THREADS)]
        mixed = np.where(rng.random(THREADS) < 0.55, chosen, numbers)
        memory[:, at : at + mixed.itemsize] = mixed[:, None].view(np.uint8)

    for k in range(4):
        put(4 * k, WORDS, bits(1 << 32, np.uint32))
        floats = rng.integers(100, 160, THREADS).astype(np.uint32) << np.uint32(23) | bits(1 << 23, np.uint32)
        floats |= rng.integers(0, 2, THREADS).astype(np.uint32) << np.uint32(31)
        put(16 + 4 * k, FLOATS, np.where(rng.random(THREADS) < 0.3, bits(1 << 32, np.uint32), floats))
        put(32 + 8 * k, LONGS, bits(1 << 64, np.uint64))
        doubles = rng.integers(980, 1090, THREADS).astype(np.uint64) << np.uint64(52) | bits(1 << 52, np.uint64)
        doubles |= rng.integers(0, 2, THREADS).astype(np.uint64) << np.uint64(63)
        put(64 + 8 * k, DOUBLES, doubles)
        put(96 + 2 * k, HALVES, bits(1 << 16, np.uint16))
    return memory.reshape(-1)


def left_behind(module: wl.Module, form: Form) -> NDArray[np.uint8]:
    """The memory behind a launch here."""
    memory = inputs().copy()
    module[form.kernel].launch(1, THREADS, memory, threads=1)
    return memory


def digest(memory: NDArray[np.uint8], form: Form) -> str:
    """Of the results in the memory behind a launch."""
    return f"{crc32(memory.reshape(THREADS, BYTES)[:, RESULT : RESULT + form.bytes].tobytes()):08x}"


def batches(step: int = 200) -> list[Sequence[Form]]:
    return [forms()[start : start + step] for start in range(0, len(forms()), step)]


def measured(kept: list[tuple[bytes, list[Form]]]) -> list[Form]:
    """With the digests of this machine's GPU; without those lines that it has not."""
    from warplens.core.launch import Launch
    from warplens.hardware import Job, launch, open_gpu

    gpu, shape = open_gpu(), Launch((1, 1, 1), (THREADS, 1, 1), 0)
    found = []
    for cubin, lines in kept:
        for form in lines:
            (memory,) = launch(Job(cubin, form.kernel, gpu.arch, shape, (0,), (inputs(),)), gpu)
            found.append(replace(form, digest=digest(np.asarray(memory), form)))
    return found


def main(what: str, kept: Path) -> None:
    if what == "--assemble":
        made = [module(batch, "sm_90") for batch in batches()]
        kept.write_bytes(pickle.dumps([(found.cubin.data, lines) for found, lines in made if found]))
        return
    with FILE.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("ptx", "result", "digest"))
        out.writerows((form.line, form.result, form.digest) for form in measured(pickle.loads(kept.read_bytes())))


if __name__ == "__main__":
    sys.modules["ptx_forms"] = sys.modules[__name__]  # what is kept names its class so
    Form.__module__ = "ptx_forms"
    main(sys.argv[1], Path(sys.argv[2]))
