"""What a report speaks of: one launch with all that is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from warplens.core.counts import Trace
from warplens.core.cubin import Kernel, SourceLine
from warplens.core.hazard import Check
from warplens.core.launch import Launch
from warplens.core.memory_opcodes import TENSOR_MEMORY
from warplens.core.metric import Metric, Provenance
from warplens.core.program import Constant, Program, Special
from warplens.counters.idioms import DefUse, Idiom, idioms_in
from warplens.counters.occupancy import Occupancy, waves
from warplens.counters.vocabulary import Counts, Quantity
from warplens.machine import Machine, same_code
from warplens.model import LeastTime, floor
from warplens.model.result.prediction import Prediction
from warplens.model.result.warp_timeline import WarpTimeline
from warplens.report.access_patterns import AccessView
from warplens.report.constant_names import constant_names
from warplens.report.findings.finding_view import FindingView


@dataclass(frozen=True)
class LaunchView:
    """One launch, counted.

    title          of the kernel, as the user calls it;  file: as the user gave it
    machine_from   who named the GPU: "--gpu", "WARPLENS_GPU", "this machine", "default", "none" or ""
    labels         names of the kernel's parameters, "" where there is none
    sources        text of the source by the name that the line table has for it
    tools          versions by program
    checks         that were on; what they found is in trace.hazards
    input_bytes    of the arrays left unchanged, of all where all were changed;  changed_bytes: of those changed
    prediction     of its time, where one was asked for and could be made; unpredicted says why it could not
    what_if        the same with one cause removed, by its name
    advice         what the findings are worth, and what to write instead, where it was asked for; most gain first
    accesses       of some blocks that were traced, for pages;  timeline: of one SM, likewise
    """

    title: str
    file: str
    kernel: Kernel
    program: Program
    launch: Launch
    trace: Trace
    metrics: Mapping[str, Metric]
    occupancy: Occupancy
    machine: Machine
    machine_from: str
    labels: tuple[str, ...]
    sources: Mapping[str, str]
    tools: Mapping[str, str]
    checks: tuple[Check, ...] = ()
    input_bytes: int = 0
    changed_bytes: int = 0
    prediction: Prediction | None = None
    unpredicted: str = ""
    what_if: Mapping[str, Prediction] = field(default_factory=dict)
    advice: tuple[FindingView, ...] = ()
    accesses: AccessView | None = None
    timeline: WarpTimeline | None = None

    def __getitem__(self, name: str) -> float | int:
        """The value of a metric."""
        return self.metrics[name].value

    @property
    def all_metrics(self) -> Mapping[str, Metric]:
        """With those of the prediction, where there is one."""
        return {**self.metrics, **(self.prediction.metrics if self.prediction else {})}

    @property
    def gpu(self) -> str:
        """ "NVIDIA H200 SXM (default; choose with --gpu)"."""
        by = self.machine_from
        words = {
            "": "as given", "default": "default; choose with --gpu", "this machine": "found in this machine",
            "none": "default; no time is predicted with --gpu none",
        }  # fmt: skip
        return f"{self.machine.title} ({words.get(by, f'named by {by}')})"

    @property
    def provenance(self) -> Provenance:
        """Of instructions, lanes and branches, summed straight from the trace."""
        return self.trace.provenance(of_addresses=False)

    @property
    def memory_provenance(self) -> Provenance:
        """Of tables that have sectors or wavefronts in them."""
        return self.trace.provenance(of_addresses=True)

    @property
    def waves(self) -> float:
        return waves(self.machine, self.occupancy, self.launch.blocks)

    @cached_property
    def floor(self) -> LeastTime | None:
        """The least time on the GPU; None where the machine code is for another one."""
        if self.foreign:
            return None
        return floor(self.program, self.trace, self.machine, self.occupancy, self.input_bytes)

    @property
    def warps(self) -> int:
        return self.launch.blocks * self.launch.warps_per_block

    @cached_property
    def whole(self) -> Counts:
        """All instructions in one group."""
        return Counts(self.program, self.trace, [0] * len(self.program.instructions))

    def total(self, quantity: Quantity) -> int:
        return int(quantity.of(self.whole)[0]) if self.whole.size else 0

    @cached_property
    def lines(self) -> tuple[SourceLine, ...]:
        """The source lines that have machine code, by file and line."""
        present = {instruction.source for instruction in self.program.instructions if instruction.source}
        return tuple(sorted(present, key=lambda place: (place.file, place.line)))

    @cached_property
    def by_line(self) -> Counts:
        """One group for each of `lines`."""
        number = {place: index for index, place in enumerate(self.lines)}
        groups = [number[i.source] if i.source else -1 for i in self.program.instructions]
        return Counts(self.program, self.trace, groups)

    @cached_property
    def _text(self) -> Mapping[str, list[str]]:
        return {name: text.split("\n") for name, text in self.sources.items()}

    def text_of(self, place: SourceLine) -> str:
        """The source line as it is written, "" where the text is not known."""
        lines = self._text.get(place.file, [])
        return lines[place.line - 1].rstrip("\r") if place.line <= len(lines) else ""

    @cached_property
    def name_of(self) -> Callable[[Constant], str | None]:
        """What an entry of the constant banks is called: a parameter, blockDim ..."""
        return constant_names(self.kernel, self.sources, self.labels)

    @cached_property
    def flow(self) -> DefUse:
        """Which instruction made a value and which use it."""
        return DefUse(self.program, self.name_of)

    @cached_property
    def idioms(self) -> tuple[Idiom, ...]:
        """What groups of instructions compute."""
        return idioms_in(self.flow)

    @property
    def foreign(self) -> str:
        """A remark if the machine code is for other chips than the GPU has, else ""."""
        if same_code(self.kernel.arch, self.machine.arch):
            return ""
        return (
            f"the machine code is for {self.kernel.arch}, the limits are those of the "
            f"{self.machine.title} ({self.machine.arch})"
        )

    @property
    def notes(self) -> list[str]:
        """What a reader must know of the numbers."""
        known = self.part, self.foreign, self.unproven, self.timed, self.dependent, self.driven
        return [note for note in known if note]

    @property
    def part(self) -> str:
        """A remark if only some blocks were run, else ""."""
        if not self.trace.sampled:
            return ""
        return f"{self.trace.blocks_run:,} of {self.launch.blocks:,} blocks were run; counts are scaled"

    @property
    def unproven(self) -> str:
        """A remark if the kernel uses what no GPU has confirmed, else ""."""
        if not any(i.base in TENSOR_MEMORY for i in self.program.instructions):
            return ""
        return "unproven: tcgen05 is executed as the PTX ISA says; no GPU has confirmed its results and its counts"

    @property
    def timed(self) -> str:
        """A remark if the kernel reads a clock, else ""."""
        names = {o.name for i in self.program.instructions for o in i.operands if isinstance(o, Special)}
        if not any(name.startswith(("SR_CLOCK", "SR_GLOBALTIMER")) for name in names):
            return ""
        return "the kernel reads a clock, which counts instructions here: what it does with the time is modelled"

    @property
    def dependent(self) -> str:
        """A remark if counts depend on the order of the warps or on time, else ""."""
        counts, addresses, waiting, _ = self.trace.dependence
        if counts and waiting is not None:
            told = "counts of code that waits, and sums with them, are modelled: they depend on"
        elif counts:
            told = "counts are modelled: a branch or guard depends on"
        elif addresses:
            told = "sectors, wavefronts and bytes are modelled: an address depends on"
        else:
            return ""
        return f"{told} {counts or addresses}, and a GPU may give others in each run"

    @property
    def driven(self) -> str:
        """A remark if the kernel called the driver's functions, else ""."""
        if not self.trace.driver_calls:
            return ""
        names = ", ".join(self.trace.driver_calls)
        return f"counts are modelled: the instructions inside of {names} are the driver's and not counted"

    @cached_property
    def lanes(self) -> float:
        """Threads that did something, on average over the warp instructions executed: 0 to 32."""
        executed = int(np.sum(self.trace.executed))
        return int(np.sum(self.trace.threads_on)) / executed if executed else 0.0


def blocks_of(launch: Launch) -> str:
    """ "1 block of 64 threads", "64 × 64 blocks of 16 × 16 threads"."""
    return f"{dim(launch.grid)} block{'s' * (launch.blocks > 1)} of {dim(launch.block)} thread" + "s" * (
        launch.threads_per_block > 1
    )


def dim(size: tuple[int, int, int]) -> str:
    """ "131,072" or "64 × 64": without trailing ones."""
    kept = [size[0], *([size[1]] if size[1:] != (1, 1) else []), *([size[2]] if size[2] != 1 else [])]
    return " × ".join(f"{extent:,}" for extent in kept)
