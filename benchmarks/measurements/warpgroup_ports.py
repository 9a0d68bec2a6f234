"""Which instructions and a warpgroup's products slow each other: the kernels of warpgroup_ports.cu, whose loop of
multiply-adds is replaced by other instructions, with chosen registers.

`warpgroup_ports.py make OUT.npz` writes the cubins (nvcc); `read IN.npz OUT.csv` starts them (a GPU of sm_90, NumPy).
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FORMS = ("bf16", "bf16_registers", "half", "wide", "wide_registers", "slim", "tf32", "tf32_registers",
         "e4m3", "s8")  # fmt: skip
HEAD = "form,kind,product_warpgroups,other_warpgroups,products,cycles_a_product,instructions,cycles_an_instruction"
LEAST = {"wide": 128, "wide_registers": 128, "slim": 32}  # cycles of a product; of the others 64
STEPS, CYCLES, SHARED = 96, 150_000, 200 << 10

# What the loop has: instructions, each its opcode, then registers that it writes and reads: E even, O odd, A even and
# odd in turn, B odd and even in turn, - none, one by operand; behind : the stall count. `first`: with all forms.
FIRST = (
    "NOP", "FFMA A AB-", "FFMA A AB-:2", "FFMA A AB-:4", "FFMA - ---", "FMNMX A AB", "FMNMX - --",
    "F2FP.BF16.F32.PACK_AB A AB", "IADD3 A AB-", "IMAD A A-B", "MUFU.EX2 A -A", "SHFL.BFLY A A", "LDS A -",
    "LDS.128 E -", "STS - -A",
)  # fmt: skip
OTHERS = (
    "NOP:2", "NOP:4", "FFMA A A--", "FFMA A ---", "FFMA - AB-", "FFMA E O--", "FFMA E E--", "FFMA A ABA", "FFMA A AA-",
    "FADD A AB", "FADD A AB:2", "FMUL A AB", "FFMA A AB-:3", "FFMA A AB-:6", "FFMA A AB-:8",
    "FMNMX A A-", "FMNMX A --", "FMNMX - AB", "FMNMX E O-", "FMNMX E E-", "FMNMX A AA", "FMNMX A AB:3", "FMNMX A AB:4",
    "FMNMX A AB:6", "FMNMX A AB:8", "FSETP.GT.AND - AB", "LOP3.LUT A AB-", "LOP3.LUT A ABA", "MOV A -", "SEL A -",
    "PRMT A A-", "SHF.L.U32 A A--", "IABS A -A", "LEA A AB", "VOTE.ANY A -", "P2R A -",
    "IMAD.WIDE E A--", "HFMA2 A AB-", "HADD2 A AB", "HMUL2 A AB", "DFMA E EEE", "DADD E EE",
    "MUFU.EX2 - --", "MUFU.EX2 A --", "MUFU.EX2 - -A", "MUFU.EX2 A -A:10", "POPC A -A", "F2I.TRUNC.NTZ A -A",
    "SHFL.BFLY - -", "SHFL.BFLY A -", "SHFL.BFLY - A", "LDS - -", "LDS.64 E -", "STS - --", "STS.128 - -E",
    "LDSM.16.M88.4 E -", "S2R A -", "CS2R E -", "HMMA.16816.F32 - ---",
    "FMNMX A AB/FFMA A AB-", "FMNMX A AB/FFMA A AB-/FFMA A AB-", "FMNMX A AB/NOP", "MUFU.EX2 A -A/FFMA A AB-",
    "MUFU.EX2 A -A/FFMA A AB-/FADD A AB/FMNMX A AB", "FMNMX A AB/IADD3 A AB-/LOP3.LUT A AB-",
)  # fmt: skip
Instruction = Any
OPERANDS = (24, 32, 64)  # first bits of source registers


def make(out: str) -> None:
    """Cubins of all forms and kinds."""
    import warplens as wl

    with tempfile.TemporaryDirectory() as folder:
        cubin = f"{folder}/ports.cubin"
        subprocess.run(["nvcc", "-arch=sm_90a", "-cubin", "-o", cubin, HERE / "warpgroup_ports.cu"], check=True)
        data = Path(cubin).read_bytes()
    module = wl.load(data)
    arrays: dict[str, Any] = {"cubin": np.frombuffer(data, np.uint8)}
    patches = []
    for form in FORMS:
        loop = [i for i in module[form].program.instructions if i.base == "FFMA"]
        assert len(loop) == STEPS, (form, len(loop))
        for kind in (*FIRST, *OTHERS) if form == "bf16" else FIRST:
            words = words_of(kind, loop)
            patches.append({"form": form, "kind": kind, "at": [start_of(data, form) + i.offset for i in loop]})
            arrays[f"p{len(patches) - 1}"] = np.frombuffer(b"".join(w.to_bytes(16, "little") for w in words), np.uint8)
    arrays["patches"] = np.frombuffer(json.dumps(patches).encode(), np.uint8)
    np.savez_compressed(out, **arrays)


def start_of(data: bytes, form: str) -> int:
    from elftools.elf.elffile import ELFFile

    return int(ELFFile(io.BytesIO(data)).get_section_by_name(f".text.{form}")["sh_offset"])


def words_of(kind: str, loop: list[Instruction]) -> list[int]:
    """The words of a kind in place of the loop's."""
    from pipes import ALWAYS, CONTROL, CONTROL_BITS, DESTINATION, FREE, GUARD, PREDICATES, control_of, examples

    named = sorted({i.encoding >> bit & 0xFF for i in loop for bit in OPERANDS} - {255})
    even, odd = [r for r in named if r % 2 == 0], [r for r in named if r % 2]
    pairs = [r for r in even if r % 4 == 0 and {r + 1, r + 2, r + 3} <= set(named)]
    read = even[: len(even) // 2], odd[: len(odd) // 2]
    written = even[len(even) // 2 :], odd[len(odd) // 2 :]
    steps, found = kind.split("/"), []
    for place, instruction in enumerate(loop):
        what, _, stall = steps[place % len(steps)].partition(":")
        opcode, result, sources = (*what.split(), "", "")[:3]
        text, word = examples()[opcode]
        for k, letter in enumerate(sources):
            if word >> 9 & 7 != 1 and k == 1 and opcode not in ("LDC",):
                continue  # the operand is no register
            number = pairs[0] if "128" in opcode and letter == "E" else register(letter, read, place, place // 2 + k)
            word = word & ~(0xFF << OPERANDS[k]) | number << OPERANDS[k]
        if result:
            wide = "128" in opcode or "M88.4" in opcode
            number = pairs[-1] if wide and pairs else register(result, written, place, place // 2)
            word = word & ~(0xFF << DESTINATION) | number << DESTINATION
        for bit in PREDICATES:
            if f"P{word >> bit & 7}" in text.split(",")[:3]:
                word = word & ~(7 << bit) | FREE << bit
        word &= ~(((1 << CONTROL_BITS) - 1) << CONTROL | 0xF << GUARD)
        control = control_of(instruction) & ~0xF | int(stall or 1)
        found.append(word | control << CONTROL | ALWAYS << GUARD)
    return found


def register(letter: str, named: tuple[list[int], list[int]], place: int, number: int) -> int:
    if letter == "-":
        return 255
    of = named[{"E": 0, "O": 1, "A": place % 2, "B": 1 - place % 2}[letter]]
    return of[number % len(of)]


class Driver:
    """The CUDA driver, a context and room for results."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.room = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.room), 4096)

    def call(self, name: str, *given: Any) -> None:
        result = getattr(self.cuda, name)(*given)
        if result:
            raise RuntimeError(f"{name} returned {result}")

    def kernel(self, cubin: bytes, name: str) -> Any:
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), cubin)
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
        self.call("cuFuncSetAttribute", kernel, 8, SHARED)
        return kernel

    def counts(self, kernel: Any, products: int, least: int, warpgroups: int) -> list[int]:
        """Of each warpgroup: products or rounds, cycles; the second of two launches."""
        given: list[Any] = [ctypes.c_int(products), ctypes.c_int(0), ctypes.c_longlong(CYCLES), self.room]
        given += [ctypes.c_float(0.5), ctypes.c_float(1.5)]
        given.append(ctypes.c_uint64(self.room.value + 512))
        places = (ctypes.c_void_p * len(given))(*map(ctypes.addressof, given))
        found = (ctypes.c_longlong * (2 * warpgroups))()
        for cycles in (3000, CYCLES):
            given[1].value, given[2].value = cycles // (8 * least) + 4, cycles
            self.call("cuLaunchKernel", kernel, 1, 1, 1, 128 * warpgroups, 1, 1, SHARED, None, places, None)
            self.call("cuCtxSynchronize")
        self.call("cuMemcpyDtoH_v2", found, given[-1], ctypes.sizeof(found))
        return list(found)


def read(path: str, out: str, first: str = "0") -> None:
    """From the patch `first` on; another process goes on where one cannot be launched."""
    driver = Driver()
    with np.load(path) as arrays, open(out, "a", encoding="utf-8") as file:
        if first == "0":
            print(HEAD, file=file)
        data = arrays["cubin"].tobytes()
        patches = json.loads(arrays["patches"].tobytes())
        for n, patch in list(enumerate(patches))[int(first) :]:
            cubin = bytearray(data)
            for at, word in zip(patch["at"], arrays[f"p{n}"].reshape(-1, 16), strict=True):
                cubin[at : at + 16] = word.tobytes()
            kernel = driver.kernel(bytes(cubin), patch["form"])
            for products, others in launches(patch["form"], patch["kind"]):
                try:
                    found = driver.counts(kernel, products, LEAST.get(patch["form"], 64), products + others)
                except RuntimeError as error:
                    print(patch["form"], patch["kind"], products, others, error, flush=True)
                    os.execv(sys.executable, [sys.executable, __file__, "read", path, out, str(n + 1)])
                row = patch["form"], patch["kind"], products, others, *shares(found, products)
                print(*row, sep=",", file=file, flush=True)


def launches(form: str, kind: str) -> Iterator[tuple[int, int]]:
    """Warpgroups that multiply, and that do others."""
    if kind == FIRST[0]:
        yield from ((1, 0), (2, 0))[: 1 + (form != "wide_registers")]
    if form == "wide_registers":
        yield 1, 1
        return
    if form == "bf16":
        yield from ((0, 1), (0, 2))
    yield from ((1, 1), (1, 2))
    if kind in FIRST:
        yield 2, 1


def shares(found: list[int], products: int) -> Iterator[str]:
    """Products of all warpgroups and cycles of a sub-partition for one; the same of instructions of its warps."""
    for pairs, each in ((found[: 2 * products], 1), (found[2 * products :], STEPS)):
        number = each * sum(pairs[::2])
        yield str(number)
        yield f"{max(pairs[1::2]) / number:.3f}" if number else ""


if __name__ == "__main__":
    {"make": make, "read": read}[sys.argv[1]](*sys.argv[2:])
