"""Version runner: executes versions of a kernel that is launched alone, as its file or the command line says."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplens.advice import OutputComparison, Step, Version
from warplens.api import Module, compile, read_source
from warplens.commands.kernel_selection import kernel_of
from warplens.commands.suggestion.version_evaluator import (
    SAMPLE,
    Candidate,
    SuggestRequest,
    VersionEvaluator,
    has_independent_blocks,
    line_shares,
    tolerant,
)
from warplens.commands.target import Target
from warplens.core.run_options import RunOptions
from warplens.errors import CompileError, KernelFault, UsageError
from warplens.launchspec.arguments import drawn_values
from warplens.launchspec.array_view import RestoredArray
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import Pitched
from warplens.rules import findings
from warplens.run import Run
from warplens.sass import disassemble_ahead
from warplens.transform import KernelSource, LaunchFacts

OTHER_PLACE = 7919  # of random arguments: other numbers than at the launch's own places
PERIOD = 1_000_003  # values that are drawn for an array of other inputs, which repeats them; a prime: rows differ
PART = 1 << 20  # elements compared at a time
PROOF = 10_000_000  # warp instructions that are executed on other inputs, a fraction of a second


class VersionRunner(VersionEvaluator):
    """Executes versions of a kernel with the launch that its file or the command line has.

    modules   by source;  changed: places of the arguments whose arrays the kernel as it is changes
    buffers   by place: arrays for the results of a version
    constants  by place: the number of arrays that hold it everywhere, in which versions run without a copy;  used: the
               places of those in which one has run since
    """

    others = "other random arrays"
    changed: frozenset[int]

    def __init__(self, target: Target, request: SuggestRequest) -> None:
        super().__init__(request)
        self.target = target
        self.modules: dict[str, Module] = {}
        self.buffers: dict[int, Any] = {}
        self.constants: dict[int, NDArray[Any]] = {}
        self.used: set[int] = set()

    @cached_property
    def source(self) -> KernelSource | None:
        """The kernel as it is; None where its source is not clear."""
        try:
            return KernelSource(read_source(Path(self.target.file)), self.target.entry.name)
        except UsageError:
            return None

    @property
    def float_sums(self) -> frozenset[str]:
        return self.source.float_sums if self.source else frozenset()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the arguments: the parameters' names in the source, else their labels, else their numbers."""
        declared = self.source.parameters if self.source else ()
        if len(declared) == len(self.target.kernel.parameters):
            return tuple(parameter.name for parameter in declared)
        return tuple(label or f"argument {place}" for place, label in enumerate(self.target.labels, 1))

    def as_it_is(self) -> Candidate:
        target = self.target

        def execute(host: RunOptions) -> tuple[Run, list[Any]]:
            few = self._changed_by_sample(host)
            run, values = self._executed(host, few)
            self.changed = changed_places(run)
            if not self.changed <= few:
                run, values = self._executed(host, self.changed)
            unchanged = target.values()
            found = {n: _constant(unchanged[n]) for n in self.changed}
            self.constants = {n: number for n, number in found.items() if number is not None}
            return run, [value if n in self.changed else unchanged[n] for n, value in enumerate(values)]

        return Candidate(target.kernel.kernel.code, execute)

    def _executed(self, host: RunOptions, places: Collection[int]) -> tuple[Run, list[Any]]:
        """The kernel as it is, with copies of the arrays at these places."""
        values = [_copy(value) if n in places else value for n, value in enumerate(self.target.values())]
        return self.target.run_with(values, host), values

    def _changed_by_sample(self, host: RunOptions) -> frozenset[int]:
        """Places of the arrays that a few blocks change, mostly all that the kernel changes; of all arrays where a few
        blocks cannot run alone.  An array of GiB takes seconds to copy."""
        target = self.target
        every = frozenset(range(len(target.kernel.parameters)))
        launch = target.launch
        if launch.blocks <= SAMPLE or not has_independent_blocks(launch, target.kernel.program):
            return every
        try:
            return changed_places(target.run_with(self._restored(every), replace(host, sample=SAMPLE)))
        except KernelFault:  # the whole launch says more about it
            return every

    def candidate(self, version: Version) -> Candidate:
        target = self.made(version)

        def execute(host: RunOptions) -> tuple[Run, list[Any]]:
            if host.sample is not None:
                return target.run_with(self._restored(self.changed), host), []
            values = self._in_buffers(target.values())
            return self._run(target, values, host), values

        return Candidate(target.kernel.kernel.code, execute)

    def _run(self, target: Target, values: Sequence[Any], host: RunOptions) -> Run:
        """UsageError where a version changes an array that the kernel as it is only reads."""
        run = target.run_with(values, host)
        if more := sorted(changed_places(run) - self.changed):
            raise UsageError(f"it writes to {self.names[more[0]]}, which the kernel as it is does not change")
        return run

    def _in_buffers(self, values: Sequence[Any]) -> list[Any]:
        """Arguments with copies of the arrays that the kernel changes, in the buffers of the version before; the other
        arrays stand for themselves, and those that hold one number everywhere, which they get again."""
        made = [
            self._refilled(n, v) if n in self.constants else _copied(v, self.buffers.get(n)) if n in self.changed else v
            for n, v in enumerate(values)
        ]  # fmt: skip
        self.buffers = {n: made[n] for n in self.changed - self.constants.keys()}
        self.used.update(self.constants)
        return made

    def _refilled(self, place: int, value: NDArray[Any]) -> NDArray[Any]:
        """The array itself, to be written to, with the number that it held before versions ran in it."""
        alias = _writable(value)
        if place in self.used:
            alias.reshape(-1).view(self.constants[place].dtype)[:] = self.constants[place]
            self.used.remove(place)
        return alias

    def _restored(self, places: Collection[int]) -> list[Any]:
        """The arguments for a run of a few blocks, whose results nobody reads: arrays have their old content again."""
        values = self.target.values()
        for n in self.constants.keys() & set(places):
            self._refilled(n, values[n])
        return [_restored(value) if n in places else value for n, value in enumerate(values)]

    def made(self, version: Version) -> Target:
        """The kernel of a version.  CompileError."""
        flags, old = self.target.flags, self.target.kernel.kernel
        kernel = kernel_of(self.compiled(version.text), self.target.entry, self.target.file)
        if old.cluster != (1, 1, 1):
            kernel = kernel.in_clusters(old.cluster)
        grid, block = (None if size is None else ",".join(map(str, size)) for size in (version.grid, version.block))
        return replace(
            self.target, kernel=kernel, flags=replace(flags, grid=grid or flags.grid, block=block or flags.block)
        )

    def compiled(self, source: str) -> Module:
        """CompileError."""
        if source not in self.modules:
            entry, beside = self.target.entry, f"-I{Path(self.target.file).absolute().parent}"
            names = (entry.name,) if set("<:") & set(entry.name) else ()
            options = (*entry.options, *self.target.flags.options, beside)
            arch = self.target.kernel.kernel.arch
            self.modules[source] = compile(source=source, arch=arch, options=options, names=names)
        return self.modules[source]

    def compile_ahead(self, versions: Sequence[Version]) -> None:
        """Compiles versions, and disassembles them together; what cannot be compiled is left to evaluate()."""
        modules = []
        for version in versions:
            with suppress(CompileError):
                modules.append(self.compiled(version.text))
        disassemble_ahead(module.cubin for module in modules)

    def facts(self, run: Run) -> LaunchFacts:
        found = findings(run.subject)
        values = dict(zip(self.names, self.target.arguments, strict=True))
        sizes = {name: value.bytes for name, value in values.items() if value.bytes}
        numbers = {name: v.source for name, v in values.items() if isinstance(v.source, int | float)}
        machine = run.machine
        return LaunchFacts(
            run.launch.grid, run.launch.block, run.launch.shared, numbers, sizes,
            faults=frozenset(finding.fault for finding in found),
            warps=machine.limits.warps_per_multiprocessor, multiprocessors=machine.multiprocessors,
            resident=run.occupancy.blocks, lines=line_shares(run),
        )  # fmt: skip

    def on_other_inputs(self, steps: Sequence[Step]) -> OutputComparison | None:
        """How outputs compare after these changes on other random arrays; None where there are none.

        A long launch that stays the same is represented by some of its blocks, if these give the same.  The arrays of
        the launch itself are given up: nothing is evaluated after this.  KernelFault if the changed kernel faults.
        """
        before, end = self._other_values, steps[-1].after
        if before is None:
            return None
        changed, may_round = self.made(end), tolerant([step.change for step in steps])
        for sample in dict.fromkeys((self._proof if end.grid is end.block is None else None, None)):
            host = replace(self.request.host, sample=sample)
            expected = self._expected_on_other(before, host)
            if expected is None:
                return None
            found = self._in_buffers(before)
            self._run(changed, found, host)
            compared = self.compared(expected, found, may_round)
            if compared.equal:
                break
        blocks = f" ({sample:,} of {self.target.launch.blocks:,} blocks)" if sample else ""
        self.others = f"other random arrays{blocks}"
        return compared

    @property
    def _proof(self) -> int | None:
        """Blocks that represent a long launch on other inputs; None: all are run."""
        trace, blocks = self.start.trace, self.start.launch.blocks
        count = max(PROOF * blocks // max(int(trace.executed.sum()), 1), SAMPLE)
        return count if self.is_long and 2 * count < blocks else None

    def _expected_on_other(self, before: Sequence[Any], host: RunOptions) -> list[Any] | None:
        """What the kernel as it is makes of other inputs, in the arrays of `expected`; None where it faults on them."""
        for n in self.constants:
            self._refilled(n, before[n])
        after = [
            _copied(value, self.expected[n]) if n in self.changed else value for n, value in enumerate(before)
        ]  # fmt: skip
        try:
            self._run(self.target, after, host)
        except (KernelFault, UsageError):
            return None
        return after

    @cached_property
    def _other_values(self) -> list[Any] | None:
        """The arguments with other random arrays; None where there are none."""
        texts, values = self.target.flags.args or self.target.entry.args, self.target.values()
        random = [n for n, value in enumerate(values) if "random" in texts[n] and isinstance(value, np.ndarray)]
        for place in random:
            self._redraw(values[place], texts[place], place + OTHER_PLACE)
        return values if random else None

    def _redraw(self, array: NDArray[Any], text: str, place: int) -> None:
        """Puts other numbers into a random array, where its own are: to draw GiB takes seconds."""
        drawn = drawn_values(text, self.target.known, place, min(array.size, PERIOD)).reshape(-1)
        drawn = drawn[::-1]  # those of a `seed=` are the same at every place
        array.flags.writeable = True
        flat = array.reshape(-1)
        for start in range(0, flat.size, drawn.size):
            part = flat[start : start + drawn.size]
            part[:] = drawn[: part.size]
        array.flags.writeable = False


def changed_places(run: Run) -> frozenset[int]:
    """Places of the arguments whose arrays a launch has changed."""
    assert run.again is not None
    memory, block = run.again.memory, run.again.parameters
    places = {memory.allocations[number].address for number in memory.written}
    return frozenset(
        n for n, parameter in enumerate(run.kernel.kernel.parameters)
        if int.from_bytes(block[parameter.offset : parameter.offset + parameter.size], "little") in places
    )  # fmt: skip


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray | Pitched | MappedArray) else value


def _copied(value: Any, buffer: Any) -> Any:
    """A copy, in the buffer if there is one: the first touch of fresh memory takes longer than the copy."""
    if not isinstance(value, np.ndarray) or not isinstance(buffer, np.ndarray):
        return _copy(value)
    np.copyto(buffer, value)
    return buffer


def _restored(value: Any) -> Any:
    """For a launch that gives an array its old content back: the array itself, though it is read-only."""
    if not isinstance(value, np.ndarray) or not value.ndim:
        return _copy(value)
    return RestoredArray(_writable(value))


def _writable(value: NDArray[Any]) -> NDArray[Any]:
    """A view that may be written to, of an array that is read-only."""
    value.flags.writeable = True
    alias = value.view()
    value.flags.writeable = False
    return alias


def _constant(value: Any) -> NDArray[Any] | None:
    """The bits of the number that an array of numbers holds everywhere; None for another one."""
    if not isinstance(value, np.ndarray) or not value.size or value.dtype.itemsize not in (1, 2, 4, 8):
        return None
    if not value.flags.c_contiguous:
        return None
    bits = value.reshape(-1).view(f"u{value.dtype.itemsize}")
    parts = (bits[start : start + PART] for start in range(0, bits.size, PART))
    return bits[:1].copy() if all((part == bits[0]).all() for part in parts) else None
