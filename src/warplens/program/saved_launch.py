"""Saved launch: one launch of a program with its code and memory in a file, to be executed again.

The file is a NumPy archive (.npz) without pickled objects: `header` is JSON, `module` the cubin, `parameters` the
parameter block, `bank_N` constant banks, `block_N` what the N-th allocation held before the launch.
"""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.api import Module
from warplens.compiler import read_cubin
from warplens.core.cubin import Cubin, Variable
from warplens.core.demangle import demangled
from warplens.core.device_variables import CONSTANT_BANK
from warplens.core.hazard import checks_of
from warplens.core.kernel_name import base_name
from warplens.core.launch import Launch
from warplens.core.run_options import USUAL, RunOptions
from warplens.core.texture_descriptor import FIELDS
from warplens.emulator import DEFAULT_BUDGET, LaunchRequest, available_threads, provided
from warplens.emulator import run as execute
from warplens.emulator.memory.buffer_pool import address, aligned
from warplens.emulator.memory.device_memory import Allocation, DeviceMemory
from warplens.emulator.state.abi import CALL_STACK
from warplens.errors import CubinError, UsageError
from warplens.kernel import LaunchableKernel, Progress, address_bank
from warplens.machine import Machine
from warplens.program.arena import Arena, ArenaMemory
from warplens.run import Run

FORMAT, VERSION = "warplens launch", 1
ADDRESS_BANK = 4  # of addresses of functions and variables
MOST_STACK = 1 << 19  # bytes a thread, as on a GPU
# Names that are of one file alone have two hashes, of the file's path and of its name:
# _INTERNAL_68f19d10_7_main_cu_2fc30af7.
OF_ONE_FILE = re.compile(r"(INTERNAL_|GLOBAL__N__)[0-9a-f]{8}(_\d+_\w+?)_[0-9a-f]{8}")
Bytes = NDArray[np.uint8]


@dataclass
class SaveRequest:
    """Save request: the number-th launch of a kernel, from 1, into a file; `launches` of it so far."""

    kernel: str
    number: int
    file: str
    launches: int = 0

    @classmethod
    def of(cls, word: str, file: str) -> SaveRequest:
        """From "scale:3"; "scale" is the first.  UsageError."""
        kernel, colon, number = word.rpartition(":")
        if not colon or kernel.endswith(":"):  # a name with its namespace
            return cls(word, 1, file)
        if not (number.isdecimal() and int(number)):
            raise UsageError(f"--save-launch {word}: write KERNEL:N, where N is 1 for the first launch")
        return cls(kernel, int(number), file)

    def matches(self, kernel: str) -> bool:
        return self.kernel in (kernel, base_name(kernel))

    @property
    def is_open(self) -> bool:
        return self.launches < self.number

    def next(self, kernel: str) -> bool:
        """Whether the next launch, of this kernel, is the one."""
        self.launches += self.matches(kernel)
        return self.matches(kernel) and self.launches == self.number


def save(file: str, request: LaunchRequest, module: bytes, title: str, program: str, gpu: Machine) -> None:
    """Writes a launch that has just been executed, with its memory as it was before.  OSError."""
    memory, launch, kernel = request.memory, request.launch, request.kernel
    memory.again()
    touched = memory.read | memory.written
    header = {
        "format": FORMAT, "version": VERSION, "kernel": kernel.name, "title": title, "program": program,
        "gpu": gpu.key, "grid": launch.grid, "block": launch.block, "shared": launch.shared,
        "cooperative": launch.cooperative, "cluster": kernel.cluster, "banks": sorted(request.banks),
        "stack": request.stack_bytes,
        "allocations": [
            {
                "name": a.name, "address": a.address, "size": a.size, "slack": a.slack,
                "kept": n in touched and n not in memory.blank, "touched": n in touched,
            }
            for n, a in enumerate(memory.allocations)
        ],
    }  # fmt: skip
    arrays: dict[str, Bytes] = {"header": _bytes(json.dumps(header).encode()), "module": _bytes(module)}
    arrays["parameters"] = _bytes(request.parameters)
    if len(memory.textures):
        arrays["textures"] = memory.textures.reshape(-1).view(np.uint8)
    arrays |= {f"bank_{number}": _bytes(data) for number, data in request.banks.items()}
    for number, allocation in enumerate(memory.allocations):
        if number in touched and number not in memory.blank:
            arrays[f"block_{number}"] = allocation.data
    handle, temporary = tempfile.mkstemp(dir=Path(file).resolve().parent, prefix=f".{Path(file).name}.")
    try:
        with os.fdopen(handle, "wb") as written:
            np.savez(written, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _bytes(data: bytes) -> Bytes:
    return np.frombuffer(data, np.uint8)


def is_saved_launch(file: str) -> bool:
    """By what is in it."""
    try:
        with zipfile.ZipFile(file) as archive:
            return "header.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


@dataclass(frozen=True)
class SavedLaunch:
    """Saved launch, as read from its file: a kernel to be explained, on a GPU.

    title, machine, machine_from   as of a Target (commands/target.py)
    code   its module, where that is read already
    """

    file: str
    header: dict[str, Any]
    arrays: dict[str, Bytes] = field(repr=False)
    machine: Machine
    machine_from: str
    code: Module | None = field(default=None, repr=False)

    @property
    def title(self) -> str:
        return str(self.header["title"])

    @property
    def launch(self) -> Launch:
        header = self.header
        return Launch(_size(header["grid"]), _size(header["block"]), int(header["shared"]), bool(header["cooperative"]))

    @cached_property
    def kernel(self) -> LaunchableKernel:
        try:
            module = self.code or Module(read_cubin(self.arrays["module"].tobytes()), {})
        except CubinError as error:
            raise UsageError(f"{self.file} is damaged: {error}") from None
        kernel, cluster = module[self.header["kernel"]], _size(self.header["cluster"])
        return kernel if cluster == kernel.kernel.cluster else kernel.in_clusters(cluster)

    def with_code(self, module: Module, launch: Launch) -> SavedLaunch:
        """The same with other machine code of the kernel, and another grid and block.

        UsageError where the code has no such kernel, or variables at other places: they have addresses and values.
        """
        symbol, before = same_kernel(self.header["kernel"], module), self.kernel
        if _variables(before.cubin) != _variables(module.cubin):
            raise UsageError("the changed code has other variables, or has them at other places")
        made, banks = module.cubin.kernels[symbol], {}
        if made.relocations:
            known = {_without_hashes(name): at for name, at in self._addresses.items()}
            named = {one.symbol: _without_hashes(one.symbol) for one in made.relocations}
            addresses = {symbol: known[name] for symbol, name in named.items() if name in known}
            banks[ADDRESS_BANK] = _bytes(address_bank(made, {**provided(), **addresses, **made.functions}))
        if CONSTANT_BANK in self.header["banks"]:
            banks[CONSTANT_BANK] = self.arrays[f"bank_{CONSTANT_BANK}"]
        header = self.header | {"kernel": symbol, "grid": launch.grid, "block": launch.block, "banks": sorted(banks)}
        arrays = {name: array for name, array in self.arrays.items() if not name.startswith("bank_")}
        arrays |= {"module": _bytes(module.cubin.data)} | {f"bank_{n}": data for n, data in banks.items()}
        return replace(self, header=header, arrays=arrays, code=module)

    @property
    def _addresses(self) -> dict[str, int]:
        """Of the functions and variables that the kernel names, as they were in its launch."""
        bank = self.arrays.get(f"bank_{ADDRESS_BANK}")
        if bank is None:
            return {}
        relocations = self.kernel.kernel.relocations
        words = {r.symbol: int(bank[r.offset : r.offset + 8].view("<u8")[0]) - r.addend for r in relocations}
        known = {**self.kernel.cubin.globals}
        start = next((at - known[name].offset for name, at in words.items() if name in known), 0)
        return words | ({name: start + place.offset for name, place in known.items()} if start else {})

    def memory(self) -> DeviceMemory:
        """Device memory as it was before the launch, of its own."""
        made = []
        for number, entry in enumerate(self.header["allocations"]):
            kept = self.arrays.get(f"block_{number}")
            data = aligned(entry["size"])
            if kept is not None:
                data[:] = kept
            slack = entry.get("slack", 0)
            made.append(Allocation(entry["name"], entry["address"], entry["size"], data, address(data), slack=slack))
        arena = Arena(granularity=1)  # for the heap of malloc, which is empty
        memory = ArenaMemory(arena, made)
        if "textures" in self.arrays:
            memory.textures = self.arrays["textures"].view(np.int64).reshape(-1, FIELDS)
        arena.close()
        return memory

    def run(
        self, host: RunOptions = USUAL, progress: Progress | None = None, check: tuple[str, ...] = (),
        results: dict[int, Bytes] | None = None,
    ) -> Run:  # fmt: skip
        """Executes it.  UsageError where the GPU refuses it, KernelFault from the kernel itself.

        results   gets what the allocations that it has changed hold afterwards, by address
        """
        kernel, launch, memory = self.kernel, self.launch, self.memory()
        kernel.check(launch, self.machine)
        banks = {int(number): self.arrays[f"bank_{number}"].tobytes() for number in self.header["banks"]}
        request = LaunchRequest(
            kernel.kernel, kernel.program, launch, self.arrays["parameters"].tobytes(), memory, banks,
            self.machine.multiprocessors, host.budget or DEFAULT_BUDGET, int(self.header.get("stack", CALL_STACK)),
        )  # fmt: skip
        checks, threads = checks_of(check), host.threads or available_threads()
        counted = execute(request, threads=threads, progress=progress, checks=checks, sample=host.sample)
        if results is not None:
            changed = [memory.allocations[number] for number in memory.written]
            results.update({one.address: one.data.copy() for one in changed})
        memory.again(whole=host.sample is None)
        inputs = (memory.read - memory.written) or memory.read
        input_bytes = sum(memory.allocations[number].size for number in inputs)
        changed_bytes = sum(memory.allocations[number].size for number in memory.written)
        memory.release()
        return Run(
            kernel, launch, counted, self.machine, (), checks, self.title, self.header["program"], self.machine_from,
            input_bytes, changed_bytes, request,
        )  # fmt: skip


def read(file: str, machine: Machine | None = None, machine_from: str = "") -> SavedLaunch:
    """The launch in a file; machine: another GPU than the one that it was saved for.  UsageError."""
    from warplens.machine import machine as described

    try:
        with np.load(io.BytesIO(Path(file).read_bytes()), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != FORMAT or header["version"] != VERSION:
            raise UsageError(f"{file} is of version {header['version']}, and this is for version {VERSION}")
        _check(header, arrays)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError):
        raise UsageError(
            f"{file} is no launch that `warplens run --save-launch` has written, or it is damaged"
        ) from None
    return SavedLaunch(file, header, arrays, machine or described(header["gpu"]), machine_from)


def _check(header: dict[str, Any], arrays: dict[str, Bytes]) -> None:
    """ValueError for a file that does not fit together: it may come from anywhere."""
    wrong = any(array.dtype != np.uint8 or array.ndim != 1 for array in arrays.values())
    end = 0
    for number, entry in enumerate(header["allocations"]):
        kept = arrays.get(f"block_{number}")
        wrong |= (kept is not None) != entry["kept"] or (kept is not None and kept.size != entry["size"])
        wrong |= not (isinstance(entry["address"], int) and isinstance(entry["size"], int))
        wrong |= entry["address"] < end or entry["size"] < 0 or not isinstance(entry["name"], str)
        end = entry["address"] + entry["size"]
    stack = header.get("stack", CALL_STACK)
    wrong |= not isinstance(stack, int) or not 0 <= stack <= MOST_STACK
    for name in ("kernel", "title", "program", "gpu"):
        wrong |= not isinstance(header[name], str)
    for name in ("grid", "block", "cluster"):
        wrong |= any(not isinstance(extent, int) or extent < 1 for extent in _size(header[name]))
    if wrong or {"module", "parameters", *(f"bank_{number}" for number in header["banks"])} - arrays.keys():
        raise ValueError


def same_kernel(symbol: str, module: Module) -> str:
    """Its symbol in other code, which is another one where a parameter has become const.  UsageError."""
    kernels, names = module.cubin.kernels, (_without_hashes(symbol), demangled(symbol))
    alike = [symbol] if symbol in kernels else [
        one for one in kernels if _without_hashes(one) == names[0] or demangled(one) == names[1]
    ]  # fmt: skip
    if len(alike) != 1:
        raise UsageError(f"the changed code has {'several kernels' if alike else 'no kernel'} {demangled(symbol)}")
    return alike[0]


def _variables(cubin: Cubin) -> list[dict[str, Variable]]:
    """Those of global and of constant memory, with their places."""
    return [{_without_hashes(name): one for name, one in of.items()} for of in (cubin.globals, cubin.constants)]


def _without_hashes(symbol: str) -> str:
    return OF_ONE_FILE.sub(r"\1\2", symbol)


def _size(given: list[int]) -> tuple[int, int, int]:
    x, y, z = given
    return x, y, z
