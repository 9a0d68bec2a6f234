"""Program kernel: executes versions of a kernel with launches that a program has made, and their memory."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.advice import OutputComparison, Step, Version, compare_outputs
from warplens.advice.launch_sites import LaunchRewrite, rewrite_of, why_not_rewritten
from warplens.api import Module
from warplens.commands.suggestion.program_sources import ProgramSources, Texts, short
from warplens.commands.suggestion.version_evaluator import (
    Candidate,
    SuggestRequest,
    VersionEvaluator,
    line_shares,
    tolerant,
)
from warplens.compiler.parameter_type import ParameterType, types_of
from warplens.core.launch import Launch
from warplens.core.run_options import RunOptions
from warplens.emulator import available_threads
from warplens.errors import CompileError, UsageError
from warplens.program.saved_launch import SavedLaunch
from warplens.rules import findings
from warplens.run import Run
from warplens.sass import disassemble_ahead
from warplens.transform import Change, KernelSource, LaunchFacts
from warplens.transform._change import SAME_LAUNCH
from warplens.transform.syntax.kernel_source import KernelParameter

DTYPES = {"float": "<f4", "double": "<f8", "half": "<f2", "__half": "<f2"}
NUMBERS = {
    "int": "<i", "int32_t": "<i", "unsigned": "<I", "unsigned int": "<I", "uint32_t": "<I", "float": "<f",
    "double": "<d", "long": "<q", "long long": "<q", "int64_t": "<q", "size_t": "<Q", "unsigned long long": "<Q",
    "uint64_t": "<Q", "unsigned long": "<Q", "short": "<h", "char": "<b", "unsigned char": "<B", "bool": "<?",
}  # fmt: skip


@dataclass(frozen=True)
class LaunchMemory:
    """Launch memory: allocations of a saved launch under the names of the kernel's parameters.

    parameters   as the source declares them, () where they do not fit the code's
    """

    saved: SavedLaunch
    parameters: tuple[KernelParameter, ...]

    @cached_property
    def numbers(self) -> dict[str, int | float]:
        """Of parameters that are numbers."""
        found: dict[str, int | float] = {}
        for declared, data in self._values:
            letter = "" if declared.pointer else NUMBERS.get(declared.type, "")
            if letter and struct.calcsize(letter) == len(data):
                (found[declared.name],) = struct.unpack(letter, data)
        return found

    @property
    def _values(self) -> list[tuple[KernelParameter, bytes]]:
        block, places = self.saved.arrays["parameters"].tobytes(), self.saved.kernel.parameters
        cut = (block[place.offset : place.offset + place.size] for place in places)
        return list(zip(self.parameters, cut, strict=True)) if len(places) == len(self.parameters) else []

    @cached_property
    def pointers(self) -> list[tuple[KernelParameter, int, dict[str, Any]]]:
        """Parameters that point to an allocation: the address, and the allocation."""
        found = []
        for declared, data in self._values:
            if declared.pointer and len(data) == struct.calcsize("<Q"):
                (place,) = struct.unpack("<Q", data)
                found += [
                    (declared, place, entry) for entry in self.saved.header["allocations"]
                    if entry["address"] <= place < entry["address"] + entry["size"]
                ]  # fmt: skip
        return found

    @property
    def sizes(self) -> dict[str, int]:
        """Bytes that lie behind each pointer."""
        return {
            declared.name: entry["address"] + entry["size"] - entry["slack"] - place
            for declared, place, entry in self.pointers
        }

    @property
    def overlapping(self) -> bool:
        """Whether two parameters point into one allocation."""
        places = [entry["address"] for _, _, entry in self.pointers]
        return len(set(places)) < len(places)

    @cached_property
    def _named(self) -> dict[int, KernelParameter]:
        return {entry["address"]: declared for declared, _, entry in self.pointers}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of all allocations."""
        entries = self.saved.header["allocations"]
        return tuple(
            self._named[entry["address"]].name if entry["address"] in self._named else entry["name"]
            for entry in entries
        )

    def outputs(self, results: Mapping[int, NDArray[np.uint8]]) -> list[Any]:
        """What the allocations hold after a launch, None for those that the program's own launch does not touch."""
        found: list[Any] = []
        for number, entry in enumerate(self.saved.header["allocations"]):
            place = entry["address"]
            data = results.get(place, self.saved.arrays.get(f"block_{number}"))
            if data is None and entry["touched"]:  # the program's own launch writes all of it
                data = np.zeros(entry["size"], np.uint8)
            declared = self._named.get(place)
            dtype = self._dtype(declared) if declared else np.dtype("u1")
            found.append(data if data is None or data.size % dtype.itemsize else data.view(dtype))
        return found

    def _dtype(self, declared: KernelParameter) -> np.dtype[Any]:
        """Of elements that are floats, by the source or by the kernel's symbol, where the source has a typedef or a
        #define; else bytes."""
        kind = self._types.get(declared.name, ParameterType()).element
        if declared.type not in DTYPES and kind is not None and kind.dtype.kind == "f":
            return kind.dtype
        return np.dtype(DTYPES.get(declared.type, "u1"))

    @cached_property
    def _types(self) -> dict[str, ParameterType]:
        names = (declared.name for declared in self.parameters)
        return dict(zip(names, types_of(self.saved.kernel.kernel, {}), strict=False))

    def executed(self, code: SavedLaunch, host: RunOptions) -> tuple[Run, list[Any]]:
        """A version of this launch.  UsageError where it writes to what the program's own launch does not touch."""
        results: dict[int, NDArray[np.uint8]] = {}
        run = code.run(host, results=None if host.sample else results)
        for entry in self.saved.header["allocations"]:
            if entry["address"] in results and not entry["touched"]:
                raise UsageError(f"it writes to {entry['name']}, which the kernel as it is does not touch")
        return run, self.outputs(results)


class ProgramKernel(VersionEvaluator):
    """Executes versions of one kernel of a program.

    file       that defines it;  texts: of all files of the program, with what is changed in other kernels
    launches   saved ones: the first is searched, on the others the result is proven
    """

    others = "the program's launches of other sizes"

    def __init__(
        self, kernel: str, sources: ProgramSources, texts: Texts, launches: Sequence[SavedLaunch],
        request: SuggestRequest,
    ) -> None:  # fmt: skip
        super().__init__(request)
        self.kernel, self.sources, self.texts = kernel, sources, texts
        self.modules: dict[str, Module] = {}
        self.file = sources.file_of(kernel, texts)
        self.source = KernelSource(texts[self.file], kernel)
        self.launches = [LaunchMemory(launch, self.source.parameters) for launch in launches]

    @property
    def names(self) -> tuple[str, ...]:
        return self.launches[0].names

    @property
    def float_sums(self) -> frozenset[str]:
        return self.source.float_sums

    def as_it_is(self) -> Candidate:
        return self.candidate(Version(self.texts[self.file]))

    def candidate(self, version: Version) -> Candidate:
        memory = self.launches[0]
        made = memory.saved.launch
        launch = Launch(version.grid or made.grid, version.block or made.block, made.shared, made.cooperative)
        code = self.code(memory, version.text, launch)
        return Candidate(code.kernel.kernel.code, lambda host: memory.executed(code, host))

    def code(self, memory: LaunchMemory, text: str, launch: Launch) -> SavedLaunch:
        """A launch with the machine code of a version.  CompileError."""
        module = self.module(text)
        try:
            return memory.saved.with_code(module, launch)
        except UsageError as error:
            raise CompileError(str(error)) from None

    def module(self, text: str) -> Module:
        if text not in self.modules:
            self.modules[text] = self.sources.module(self.file, {**self.texts, self.file: text})
        return self.modules[text]

    def compile_ahead(self, versions: Sequence[Version]) -> None:
        """Compiles versions side by side, and disassembles them together; what cannot be compiled is left to
        evaluate()."""

        def compiled(version: Version) -> list[Module]:
            with suppress(CompileError):
                return [self.module(version.text)]
            return []

        with ThreadPoolExecutor(available_threads()) as pool:
            modules = list(pool.map(compiled, versions))
        disassemble_ahead(module.cubin for found in modules for module in found)

    def facts(self, run: Run) -> LaunchFacts:
        memory, machine = self.launches[0], run.machine
        return LaunchFacts(
            run.launch.grid, run.launch.block, run.launch.shared, memory.numbers, memory.sizes,
            overlapping=any(launch.overlapping for launch in self.launches),
            faults=frozenset(finding.fault for finding in findings(run.subject)),
            warps=machine.limits.warps_per_multiprocessor, multiprocessors=machine.multiprocessors,
            resident=run.occupancy.blocks, lines=line_shares(run),
        )  # fmt: skip

    def refusal(self, source: KernelSource, change: Change, facts: LaunchFacts) -> str:
        """Why a change is not made to this program; "" where it can be."""
        texts = {short(name): text for name, text in self.texts.items()}
        return why_not_rewritten(source, change.launch, facts, texts)

    def on_other_inputs(self, steps: Sequence[Step]) -> OutputComparison | None:
        exact, differs = True, dict[str, str]()
        for memory in self.launches[1:]:
            launch = memory.saved.launch
            _, expected = memory.executed(self.code(memory, self.texts[self.file], launch), self.request.host)
            for rewrite in self.rewrites(steps):
                launch = rewrite.applied(launch)
            _, found = memory.executed(self.code(memory, steps[-1].after.text, launch), self.request.host)
            compared = compare_outputs(
                memory.names, expected, found, tolerant([step.change for step in steps]), self.request.scratch,
                self.request.totals, self.additions,
            )  # fmt: skip
            exact &= compared.exact
            differs.update(compared.differs)
        return OutputComparison(exact, differs) if len(self.launches) > 1 else None

    def rewrites(self, steps: Sequence[Step]) -> list[LaunchRewrite]:
        """What the changes do to all launches of the kernel, in their order."""
        before = [self.begin_facts, *(step.evaluation.facts for step in steps)]
        return [
            rewrite for step, facts in zip(steps, before, strict=False)
            if step.change.launch != SAME_LAUNCH and (rewrite := rewrite_of(step.change.launch, facts))
        ]  # fmt: skip

    @cached_property
    def begin_facts(self) -> LaunchFacts:
        return self.facts(self.start)
