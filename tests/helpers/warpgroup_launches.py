"""One kernel for each form of wgmma: matrices in shared memory as random descriptors place them, and their product.

What an H200 made of the same inputs is kept as check sums, measurements/h200/warpgroup_products.csv.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]
MEASURED = Path(__file__).parents[2] / "measurements" / "h200" / "warpgroup_products.csv"
DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32, "b1": 256}
BLOCKS = 4  # of a launch; the numbers of each are of another kind
SHARED = 131072
SWIZZLES = (16, 128, 64, 32)  # bytes from row to row, by the mode
VALID = {True: (4, 14), False: (4, 8, 12, 9, 13, 14)}  # nibbles of the metadata, of TF32 and of others


@dataclass(frozen=True)
class GroupForm:
    """A form: row of the file of measurements, whose number is also the seed of its inputs; crcs: without and with
    the addends."""

    number: int
    result: str
    a: str
    b: str
    columns: int
    registers: bool
    selector: int | None
    negated: tuple[bool, bool]
    transposed: tuple[bool, bool]
    saturates: bool
    crcs: tuple[int, int]

    @property
    def name(self) -> str:
        return f"product_{self.number}"

    @property
    def words(self) -> int:
        return self.columns // (4 if self.result == "f16" else 2)

    @property
    def instruction(self) -> str:
        sparse = self.selector is not None
        shape = f"m64n{self.columns}k{DEPTHS[self.a] * (1 + sparse)}"
        tail = ".and.popc" * (self.a == "b1") + ".satfinite" * self.saturates
        kinds = f"{self.result}.{self.a}.{self.b}"
        return f"wgmma.mma_async{'.sp' * sparse}.sync.aligned.{shape}.{kinds}{tail}"

    def ptx(self) -> tuple[str, list[str]]:
        """The instruction with its operands by number, and what they are beyond the accumulators."""
        given = [f'"r"(a[{k}])' for k in range(4)] if self.registers else ['"l"(left)']
        first = self.words
        left = "{" + ",".join(f"%{first + k}" for k in range(4)) + "}" if self.registers else f"%{first}"
        operands = [left, f"%{first + len(given)}"]
        given.append('"l"(right)')
        if self.selector is not None:
            operands += [f"%{first + len(given)}", str(self.selector)]
            given.append('"r"(metadata)')
        operands.append("p")
        given.append('"r"(counted)')
        if self.result != "s32":
            operands += ["-1" if negated else "1" for negated in self.negated]
        if self.a in ("f16", "bf16"):
            operands += [str(int(t)) for t in (self.transposed[1:] if self.registers else self.transposed)]
        accumulators = "{" + ",".join(f"%{k}" for k in range(self.words)) + "}"
        test = f"setp.ne.b32 p, %{first + len(given) - 1}, 0;"
        return f"{{.reg .pred p; {test} {self.instruction} {accumulators}, {', '.join(operands)};}}", given

    @property
    def source(self) -> str:
        text, given = self.ptx()
        kind, letter = ("float", "f") if self.result == "f32" else ("unsigned", "r")
        to, back = ("__uint_as_float", "__float_as_uint") if self.result == "f32" else ("", "")
        outputs = ",".join(f'"+{letter}"(d[{k}])' for k in range(self.words))
        place = f"(blockIdx.x * {self.words} + i) * 128 + threadIdx.x"
        return f"""extern "C" __global__ void __launch_bounds__(128) {self.name}(const uint4* in,
            const unsigned long long* descriptors, const uint4* registers, const unsigned* addends, unsigned* out,
            const unsigned* indices, int counted) {{
          extern __shared__ __align__(1024) uint4 memory[];
          for (int i = threadIdx.x; i < 8192; i += 128) {{
            const uint4 v = in[blockIdx.x * 4096 + (i & 4095)];
            memory[i] = i < 4096 ? v : make_uint4(v.y, v.z, v.w, v.x);
          }}
          {kind} d[{self.words}];
          #pragma unroll
          for (int i = 0; i < {self.words}; i++) d[i] = {to}(addends[{place}]);
          const unsigned long long base = (unsigned)__cvta_generic_to_shared(memory) >> 4;
          const unsigned long long left = descriptors[2 * blockIdx.x] + base;
          const unsigned long long right = descriptors[2 * blockIdx.x + 1] + base;
          const uint4 r = registers[blockIdx.x * 128 + threadIdx.x];
          const unsigned a[4] = {{r.x, r.y, r.z, r.w}}, metadata = indices[blockIdx.x * 128 + threadIdx.x];
          asm volatile("fence.proxy.async;" ::: "memory");
          __syncthreads();
          asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
          asm volatile("{text}" : {outputs} : {",".join(given)});
          asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
          #pragma unroll
          for (int i = 0; i < {self.words}; i++) out[{place}] = {back}(d[i]);
        }}"""

    def inputs(self) -> list[NDArray[Any]]:
        """What is in shared memory, descriptors, A's registers, addends, room for results, metadata."""
        rng = np.random.default_rng(self.number)
        parts: list[list[Any]] = [[], [], [], [], []]
        shared, descriptors, registers, addends, metadata = parts
        for mode in range(BLOCKS):
            drawn = words(rng, SHARED // 8, self.a, mode)
            if self.a in ("e4m3", "e5m2") and mode != 3:
                drawn = words(rng, SHARED // 8, "e4m3", mode)
            shared.append(drawn)
            registers.append(words(rng, 512, self.a, mode))
            addends.append(accumulators(rng, self.words * 128, self.result, mode))
            valid = np.array(VALID[self.a == "tf32"], np.uint64)
            picked = valid[rng.integers(0, len(valid), (128, 8))]
            metadata.append(np.bitwise_or.reduce(picked << np.arange(0, 32, 4, dtype=np.uint64), axis=1))
            descriptors += [descriptor(rng, transposed) for transposed in self.transposed]
        room = np.zeros(self.words * 128 * BLOCKS, np.uint32)
        placed = np.array(descriptors, np.uint64)
        return [
            np.concatenate(shared), placed, np.concatenate(registers), np.concatenate(addends), room,
            np.concatenate(metadata).astype(np.uint32),
        ]  # fmt: skip


def crc(results: Words, counted: bool) -> int:
    """Check sum of the results; without the addends, of the first block."""
    return crc32((results if counted else results[: results.size // BLOCKS]).tobytes())


def words(rng: np.random.Generator, count: int, kind: str, mode: int) -> Words:
    """Words of numbers: much as normally distributed, of one exponent, far apart, any."""
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    if kind in ("s8", "u8", "b1") or mode == 3:
        return bits
    if kind in ("e4m3", "e5m2"):
        byte = bits.view(np.uint8)
        size = [0x28 + (byte & 0x7F) % 0x18, 0x38 + (byte & 3) * 4, (byte & 0x7F) % 0x7B][mode]
        return ((byte & 0x80) | size).astype(np.uint8).view(np.uint32)
    digits, middle = {"f16": (10, 15), "bf16": (7, 127), "tf32": (23, 127)}[kind]
    element: Any = bits if kind == "tf32" else bits.view(np.uint16)
    wide, low = {"f16": (28, 0), "bf16": (60, 97), "tf32": (60, 97)}[kind]
    spread = [6 if kind == "tf32" else 5, 1, wide][mode]
    least = [middle - 4, middle, low][mode]
    mixed = ((element.astype(np.uint64) * np.uint64(2654435761)) >> np.uint64(16)) & np.uint64(0xFFFF)
    exponents = least + mixed.astype(np.uint32) % np.uint32(spread)
    sign = 0x80000000 if kind == "tf32" else 0x8000
    drawn = (element & sign) | (exponents << digits).astype(element.dtype) | (element & ((1 << digits) - 1))
    return np.asarray(drawn, element.dtype).view(np.uint32)


def accumulators(rng: np.random.Generator, count: int, result: str, mode: int) -> Words:
    if result == "s32":
        drawn = rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
        return drawn if mode == 2 else drawn & 0xFFFFF
    if mode == 1:
        return np.zeros(count, np.uint32)
    return words(rng, count, "tf32" if result == "f32" else "f16", 0 if mode == 0 else 2)


def descriptor(rng: np.random.Generator, transposed: bool) -> int:
    """Of a matrix somewhere in shared memory, in any swizzle mode; now and then such as no program would make."""
    mode = int(rng.integers(0, 4))
    atom = 8 * SWIZZLES[mode]
    leading, stride = 16 * int(rng.integers(1, 256)), 16 * int(rng.integers(1, 120))
    start, phase = 1024 * int(rng.integers(0, 16)), 0
    how = int(rng.integers(0, 4))
    if mode == 0:
        start += 16 * int(rng.integers(0, 64))
    else:
        if how < 3:
            stride = atom * int(rng.integers(1, 1 + 2048 // atom))
            leading = atom * int(rng.integers(1, 1 + 4096 // atom))
        if how >= 1 and not transposed:
            start += 32 * int(rng.integers(0, SWIZZLES[mode] // 32))
        if how == 2:
            rows = int(rng.integers(0, 8))
            start += 128 * rows
            phase = int(rng.integers(0, 2)) * rows
        if how == 3:
            start += 16 * int(rng.integers(0, 64))
    fields = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32
    return fields | phase << 49 | mode << 62


@cache
def measured_forms() -> tuple[GroupForm, ...]:
    with MEASURED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return tuple(
        GroupForm(
            number, row["result"], row["a"], row["b"], int(row["columns"]), row["from"] == "registers",
            int(row["selector"]) if row["selector"] else None,
            ("A" in row["negated"], "B" in row["negated"]), ("A" in row["transposed"], "B" in row["transposed"]),
            row["clamped"] == "yes", (int(row["crc_product"], 16), int(row["crc_sum"], 16)),
        )
        for number, row in enumerate(rows)
    )  # fmt: skip
