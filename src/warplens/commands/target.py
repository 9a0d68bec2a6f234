"""From FILE and the flags of the command line to kernels that can be launched.

Every verb that takes a FILE begins here:

    for target in targets("copy.cu", Flags(kernel="nccopy")):
        target.kernel.program     # its machine code; nothing has been launched
        target.launch             # grid, block and shared memory, or UsageError that says what is missing
        run = target.run()        # executes it
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from warplens.api import read_source
from warplens.commands.kernel_selection import SelectableCode, is_source, kernel_of, selected
from warplens.compiler.launch_template import is_program, launch_template
from warplens.compiler.parameter_type import ParameterType, variable_types
from warplens.compiler.signature import declarations
from warplens.core.cubin import Kernel
from warplens.core.launch import Launch
from warplens.core.run_options import USUAL, RunOptions
from warplens.emulator.memory.argument_conversion import check_elements, number_bytes
from warplens.errors import UsageError
from warplens.kernel import LaunchableKernel, Progress
from warplens.launchspec.arguments import Argument, labelled_numbers, parse_arguments, variable_value
from warplens.launchspec.expression import Number, evaluate_whole, parse_setting
from warplens.launchspec.launch_block import KernelEntry, parse_dim
from warplens.launchspec.mapped_array import MappedArray
from warplens.launchspec.pitched_array import Pitched, plain
from warplens.machine import Machine, choose, fitting
from warplens.machine.launch_limits import check_launch
from warplens.report.block_resources import BlockResources
from warplens.run import Run


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags of a launch, as typed; None or () where not given.

    kernel     one word of --kernel or several, each a name or regex:EXPR
    settings   "n=1024", from --set; they replace names of the launch block, or make
               names where there is no block; "table=random:f32[256]" sets a variable of the module
    """

    kernel: str | tuple[str, ...] | None = None
    grid: str | None = None
    block: str | None = None
    args: tuple[str, ...] = ()
    shared: str | None = None
    settings: tuple[str, ...] = ()
    arch: str | None = None
    gpu: str | None = None
    options: tuple[str, ...] = ()
    cooperative: bool = False
    cluster: str | None = None


SUGGESTED = 8  # kernels in one launch block that a message writes
Made = tuple[str, int, int, tuple[tuple[str, Number], ...]]
"""An argument's text, its place, the size in bytes of its parameter, and the names that its text may use."""
NO_FLAGS = Flags()


@dataclass(frozen=True)
class Target:
    """One kernel of a file, with what is known of how it is started.

    file           as the user gave it;  title: of the launch block's table, or the kernel's name
    machine_from   who named the GPU: "--gpu", "WARPLENS_GPU", "this machine", "default", or "none": no time is wanted
    names          the launch block's names and --set, in numbers
    kept           arrays of the target that ran last: all targets of a file have this in common
    variables      what variables of the module are set to, in the words of arguments
    """

    file: str
    title: str
    kernel: LaunchableKernel
    machine: Machine
    machine_from: str
    entry: KernelEntry
    names: Mapping[str, Number]
    flags: Flags
    kept: dict[Made, Any] = field(repr=False)
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def started(self) -> bool:
        """Whether the file itself has the kernel's launch."""
        return self.entry.grid is not None

    @cached_property
    def known(self) -> Mapping[str, Number]:
        """Names that sizes may use: those of the file, and numbers among the arguments that bear one."""
        return {**labelled_numbers(self.flags.args or self.entry.args, self.names), **self.names}

    @cached_property
    def launch(self) -> Launch:
        """UsageError if grid or block is missing or makes no sense."""
        missing = [
            f"--{word}"
            for word, size in (("grid", self.entry.grid), ("block", self.entry.block))
            if size is None and getattr(self.flags, word) is None
        ]
        if missing:
            raise UsageError(unstarted([self], " and ".join(missing)))
        grid, block, shared = self.flags.grid, self.flags.block, self.flags.shared
        entry = self.entry
        if grid is not None:
            entry = replace(entry, grid=flag("--grid", parse_dim, grid, self.known))
        if block is not None:
            entry = replace(entry, block=flag("--block", parse_dim, block, self.known))
        if shared is not None:
            entry = replace(entry, shared=flag("--shared", shared_bytes, shared, self.known))
        if self.flags.cooperative:
            entry = replace(entry, cooperative=True)
        return entry.launch(self.known)

    @property
    def footprint(self) -> BlockResources:
        """What a block takes of a multiprocessor; the grid need not be known.  UsageError for one that cannot be."""
        launch = replace(self, entry=replace(self.entry, grid=1), flags=replace(self.flags, grid=None)).launch
        kernel = self.kernel.kernel
        self.kernel.check(replace(launch, grid=kernel.cluster, cooperative=False), self.machine)
        return BlockResources(
            kernel.registers, launch.threads_per_block, kernel.shared_bytes, launch.shared, kernel.barriers
        )

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """UsageError for an argument that cannot be understood, or for too few or too many."""
        alignment = self.machine.limits.pitch_alignment_bytes
        if self.flags.args:
            found = parse_arguments(self.flags.args, self.known, alignment=alignment)
        else:
            found = self.entry.arguments(self.known, alignment)
        if len(found) != len(self.kernel.parameters):
            given = "none is" if not found else "1 is" if len(found) == 1 else f"{len(found)} are"
            each = "one --arg for each"
            if self.entry.line > 1 and not self.flags.args:
                each = f"args of [{self.entry.title}] in {self.entry.file}:{self.entry.line} has one for each"
            raise UsageError(f"{self.title} {takes(self.kernel)}, and {given} given: {each}")
        return found

    def values(self) -> list[Any]:
        """The arguments as numbers and read-only arrays; those that the target before had too are not made again."""
        made: dict[Made, Any] = {}
        known = tuple(sorted(self.known.items()))
        for place, parameter in enumerate(self.kernel.parameters):
            argument = self.arguments[place]
            key = argument.text, place, parameter.size, known
            made[key] = self.kept[key] if key in self.kept else self._value(argument, place, parameter.size)
        self.kept.clear()
        self.kept.update(made)
        return list(made.values())

    def fresh_values(self) -> list[Any]:
        """The same with arrays of their own, which a kernel may change."""
        return [a.copy() if isinstance(a, np.ndarray | Pitched | MappedArray) else a for a in self.values()]

    def _value(self, argument: Argument, place: int, size: int) -> Any:
        if isinstance(argument.source, int | float):
            return argument.source  # launch() converts it to the parameter's type
        value = flag(f"argument {place + 1}", argument.make, size)
        held = plain(value)
        if isinstance(held, np.ndarray):
            held.flags.writeable = False  # the results are not read: they need not be copied back
        return value

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the arguments; a number that is given by a name bears it."""
        return tuple(a.label or (a.text if a.text.isidentifier() else "") for a in self.arguments)

    def run(
        self, host: RunOptions = USUAL, progress: Progress | None = None, check: Sequence[str] = ()
    ) -> Run:  # fmt: skip
        """Executes the kernel.  UsageError for a wrong launch, KernelFault from the kernel itself."""
        self.kernel.check(self.launch, self.machine)  # before arrays of many GiB are made
        return self.run_with(self.values(), host, progress, check)

    def run_with(
        self,
        values: Sequence[Any],
        host: RunOptions = USUAL,
        progress: Progress | None = None,
        check: Sequence[str] = (),
    ) -> Run:
        """As run(), with these numbers and arrays, which are updated in place."""
        launch = self.launch
        self.set_variables()
        run = self.kernel.launch(
            launch.grid, launch.block, *values, shared=launch.shared, cooperative=launch.cooperative,
            gpu=self.machine.key, threads=host.threads, budget=host.budget, sample=host.sample, progress=progress,
            labels=self.labels, check=check,
        )  # fmt: skip
        return replace(run, title=self.title, file=self.file, machine_from=self.machine_from)

    def set_variables(self) -> None:
        """Every variable of the module as the source or the user says, whatever kernels did before."""
        variables = self.kernel.variables
        variables.reset()
        types = variable_types(self.kernel.cubin.sources) if self.variables else {}
        first = len(self.kernel.parameters)  # behind the arguments: random data differ from theirs
        for place, (name, text) in enumerate(self.variables.items(), first):
            variable = variables[name]
            folder = Path(self.file).parent if name in self.entry.variables else Path()
            value = flag(name, variable_value, text, self.names, place, folder, variable.size)
            kind = types.get(name.rpartition("::")[2], ParameterType())
            if isinstance(value, int | float):
                value = number_bytes(value, variable.size, kind, name)
            else:
                check_elements(value.dtype, replace(kind, spelled=f"{kind.spelled}*", pointer=True), name)
            variable.write(value)


MOST_REGISTERS = 255  # a register's number has 8 bits, and 255 is RZ


def footprint(flags: Flags, machine: Machine, registers: int, shared_static: int, barriers: int) -> BlockResources:
    """A block by numbers, without a kernel.  UsageError with the limit that a GPU would refuse it for."""
    names = dict(flag("--set", parse_setting, text) for text in flags.settings)
    if flags.block is None:
        raise UsageError("--block is missing: the threads of a block, such as 256 or 16,16")
    if not 0 <= registers <= MOST_REGISTERS:
        raise UsageError(f"--registers: {registers}; a thread can have 0 to {MOST_REGISTERS}")
    x, y, z = flag("--block", parse_dim, flags.block, names)
    dynamic = 0 if flags.shared is None else flag("--shared", shared_bytes, flags.shared, names)
    kernel = Kernel(
        "the block", machine.arch, registers, shared_static, 0, (), 0, barriers, None, b"", {}, {}, (), ()
    )  # fmt: skip
    check_launch(Launch((1, 1, 1), (x, y, z), dynamic), machine, kernel)
    return BlockResources(registers, x * y * z, shared_static, dynamic, barriers)


def shared_bytes(text: str, names: Mapping[str, Number]) -> int:
    amount = evaluate_whole(text, names)
    if amount < 0:
        raise UsageError(f"'{text}' is {amount}; possible are bytes from 0")
    return amount


def flag(name: str, read: Any, *values: Any) -> Any:
    """What `read` makes of the values; an error says which flag it came from."""
    try:
        return read(*values)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def takes(kernel: LaunchableKernel) -> str:
    """ "takes 2 arguments (const float* x, int n)", in bytes where the source is not known."""
    sources, count = kernel.cubin.sources.values(), len(kernel.parameters)
    said = next((found for text in sources if (found := declarations(text, kernel.kernel.name, count))), ())
    if not count:
        return "takes no arguments"
    sizes = [str(parameter.size) for parameter in kernel.parameters]
    listed = " and ".join([", ".join(sizes[:-1]), sizes[-1]]) if count > 1 else sizes[0]
    return f"takes {count} argument{'s' if count > 1 else ''} ({', '.join(said) or f'of {listed} bytes'})"


def unstarted(found: Sequence[Target], missing: str = "--grid, --block and --arg") -> str:
    """For kernels of one file that nobody said how to start: what to write."""
    first = found[0]
    if len(found) > 1 and not is_source(first.file):
        titles = ", ".join(target.title for target in found)
        return f"{first.file} has {len(found)} kernels; choose one with --kernel: {titles}"
    titles = " and ".join(target.title for target in found[:2]) if len(found) < 3 else f"its {len(found)} kernels"
    reason = f"{first.file} does not say how {titles} {'is' if len(found) == 1 else 'are'} started: give {missing}"
    if not is_source(first.file):
        return f"{reason}; {first.title} {takes(first.kernel)}"
    kernels = {target.title: target.kernel.kernel for target in found[:SUGGESTED]}
    source = read_source(Path(first.file))
    whole = (
        f"{first.file} is a program: `warplens run {first.file}` runs it and counts all that it launches "
        "(`warplens explain --run` does, too).  For kernels alone: "
        if is_program(source)
        else ""
    )
    return (
        f"{whole}{reason}, or write a launch block at the top of the file, such as this with your sizes:\n\n"
        f"{launch_template(kernels, source)}"
    )


def targets(file: str, flags: Flags = NO_FLAGS) -> list[Target]:
    """The kernels of a .cu file, a cubin or a program that the flags mean.

    --kernel names them: a table of the launch block, a kernel, a template's instance ("copy<float>"), or regex:EXPR;
    it may be repeated.  Without it: all tables of the launch block, or where there is none, all kernels of the file.
    The architecture is --arch, that of the block, or the GPU's; a cubin has its own, a program some.
    UsageError, CompileError or CubinError.
    """
    machine, machine_from = choose(flags.gpu, os.environ)
    kept: dict[Made, Any] = {}
    code = SelectableCode(file, flags.arch, machine.arch, flags.options)
    words = (flags.kernel,) if isinstance(flags.kernel, str) else flags.kernel or ()
    block, found = selected(code, words)
    taken = {name for _, module in found for name in module.variables} - (block.names.keys() if block else set())
    said = {text: text.partition("=")[0].strip() for text in flags.settings}
    fills = {name: text.partition("=")[2] for text, name in said.items() if name in taken}
    settings = dict(flag("--set", parse_setting, text) for text, name in said.items() if name not in taken)
    if not block:  # what a constant of the module is set to may stand in sizes as well
        settings |= labelled_numbers(list(said), settings)
    made = []
    for entry, module in found:
        names = block.values({**entry.sets, **settings}) if block else settings
        kernel = _clustered(kernel_of(module, entry, file), entry, flags, names)
        variables = {**entry.variables, **{name: text for name, text in fills.items() if name in module.variables}}
        chosen = fitting(kernel.arch, machine, machine_from)
        made.append(Target(file, entry.title, kernel, *chosen, entry, names, flags, kept, variables))
    return made


def _clustered(
    kernel: LaunchableKernel, entry: KernelEntry, flags: Flags, names: Mapping[str, Number]
) -> LaunchableKernel:
    """In the clusters that the flags or the launch block say; else as the kernel itself has it."""
    said = flags.cluster
    size = entry.clusters(names) if said is None else flag("--cluster", parse_dim, said, names)
    return kernel if size is None else kernel.in_clusters(size)
