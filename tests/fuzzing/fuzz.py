"""Mutated inputs: whatever is given, the answer is a result or an error of warplens, and comes soon.

python tests/fuzzing/fuzz.py cubin 0 60000      reads so many mutated cubins, beginning with this seed
python tests/fuzzing/fuzz.py launch 0 60000     launch blocks, arguments and expressions
python tests/fuzzing/fuzz.py listing 0 100      cubins with mutated code through nvdisasm (1.3 s each)
"""

from __future__ import annotations

import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType

import warplens as wl
from warplens.compiler import read_cubin
from warplens.errors import WarplensError
from warplens.launchspec.arguments import parse_argument
from warplens.launchspec.expression import evaluate_list
from warplens.launchspec.launch_block import parse_dim, read_launch_block
from warplens.sass import disassemble

SECONDS = 20  # longer is a hang
MEMORY = 8 << 30
SMALL = """
__constant__ int table[4] = {1, 2, 3, 4}; __device__ int total;
extern "C" __global__ void first(const int *in, int *out, int n) {
  __shared__ int s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? in[i] : table[i & 3];
  __syncthreads();
  switch (n) { case 0: out[i] = 1; break; case 1: out[i] = s[1]; break; case 2: total = 4; break;
    case 3: out[i] = 5; break; case 4: out[0] = 2; break; case 5: atomicAdd(&total, i); break; }
  out[i] += s[31 - threadIdx.x];
}
"""
BLOCKS = (
    '// /// warplens\n// n = 1 << 20\n// [copy]\n// grid = "n / 128, 2"\n// block = [128, 1]\n'
    '// args = ["in=random f32[n]", "zeros f32[n]", "n"]\n// shared = 64\n// arch = "sm_90"\n// ///\nint x;\n',
    '// /// warplens\n// rows = 64\n// cols = "rows * 2"\n// [a]\n// kernel = "copy"\n// grid = 1\n// block = "rows"\n'
    '// [b]\n// grid = [1, 2, 3]\n// block = 32\n// args = []\n// options = ["-O1"]\n// ///\n',
)
TEXTS = (
    "random(0, 1000) i32[n, 4]", "in=arange f32x4[n / 4](2, 3)", "zeros f16[(n + 1) * 2]", "file data.npy", "0x1p-3",
    "ones u8[n]", "1 << 20", "min(n, 7) // 3 ** 2", "-n % 5, 2", "ceil(n / 128)", "1e3", "constant(3) bf16[n]", "null",
)  # fmt: skip
PIECES = ("n", "(", ")", "[", "]", ",", "**", "<<", "//", "%", "1e308", "9" * 40, "-", "~", "'", '"', "\0", "\n", "é",
          "f32", "random", "=", "[[", "{", "}", "# ", "// ///\n", "inf", "nan", "0x", "__import__", "\ud800",
)  # fmt: skip


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """One to eight changes: bits, bytes, words with awkward values, pieces moved, the end cut off."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 3, 8))):
        at = rng.randrange(len(out))
        match rng.randrange(7):
            case 0:
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                out[at] = rng.randrange(256)
            case 2 | 3:
                word = rng.choice((0, 1, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, len(data), rng.getrandbits(32)))
                out[at & ~3 : (at & ~3) + 4] = word.to_bytes(4, "little")
            case 4:
                to, size = rng.randrange(len(out)), rng.randrange(1, 64)
                out[to : to + size] = out[at : at + size]
            case 5:
                head = rng.randrange(64)  # of the file's own header
                out[head : head + 1] = bytes([rng.randrange(256)])
            case 6 if rng.random() < 0.2:
                del out[max(at, 1) :]
    return bytes(out)


def mutated_text(text: str, rng: random.Random) -> str:
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, size = rng.randrange(len(text) + 1), rng.randrange(6)
        piece = rng.choice((rng.choice(PIECES), chr(rng.randrange(32, 127)), text[at : at + size] * 2, ""))
        text = text[:at] + piece + text[at + rng.choice((0, size)) :]
    return text


@cache
def cubin() -> bytes:
    return wl.compile(source=SMALL).cubin.data


def fuzz_cubin(rng: random.Random) -> None:
    for kernel in read_cubin(mutated_bytes(cubin(), rng)).kernels.values():
        _ = kernel.parameter_bytes, kernel.lines, kernel.branch_targets


def fuzz_launch(rng: random.Random) -> None:
    names = {"n": rng.choice((0, 1, 1000, -3, 2.5))}
    if rng.random() < 0.5:
        block = read_launch_block(mutated_text(rng.choice(BLOCKS), rng), "fuzz.cu")
        for entry in block.kernels.values() if block else ():
            values = block.values({}) if block else {}
            _ = entry.launch(values), entry.arguments(values)
        return
    text = mutated_text(rng.choice(TEXTS), rng)
    read: Callable[..., object] = rng.choice((parse_argument, evaluate_list, parse_dim))
    read(text, names, 0) if read is parse_argument else read(text, names)


def fuzz_listing(rng: random.Random) -> None:
    """Mutations in the code only, so that nvdisasm gets to see them."""
    data = cubin()
    code = next(iter(read_cubin(data).kernels.values())).code
    start = data.index(code)
    changed = mutated_bytes(code, rng)[: len(code)].ljust(len(code), b"\0")
    found = read_cubin(data[:start] + changed + data[start + len(code) :])
    for name in found.kernels:
        disassemble(found, name)


SORTS: dict[str, Callable[[random.Random], None]] = {
    "cubin": fuzz_cubin, "launch": fuzz_launch, "listing": fuzz_listing,
}  # fmt: skip


def run(sort: str, first: int, count: int) -> Counter[str]:
    """How the inputs with seeds first, first + 1 ... ended.  Any other error than warplens' own comes through."""
    ended: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            SORTS[sort](random.Random(seed))
            ended["read"] += 1
        except WarplensError as error:
            ended[type(error).__name__] += 1
        except BaseException as error:
            error.add_note(f"{sort}, seed {seed}")
            raise
    return ended


def too_long(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"an input took more than {SECONDS} s")


def main(sort: str, first: str, count: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, too_long)
    started, total = time.perf_counter(), Counter[str]()
    for seed in range(int(first), int(first) + int(count), 100):
        signal.alarm(SECONDS + 100)
        total += run(sort, seed, min(100, int(first) + int(count) - seed))
    seconds = time.perf_counter() - started
    print(f"{sort}: {count} inputs from seed {first} in {seconds:.0f} s: {dict(total)}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(*sys.argv[1:])
