"""Run: a finished launch: its counts, its time on a GPU, and reports of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from warplens.compiler import is_ptx
from warplens.control_characters import visible
from warplens.core.counts import Trace
from warplens.core.cubin import Cubin, Kernel
from warplens.core.hazard import CHECKS, Check, Hazard
from warplens.core.launch import Launch
from warplens.core.metric import Metrics
from warplens.core.plot_axes import plot_axes
from warplens.core.program import Program
from warplens.counters.metric_collection import metrics
from warplens.counters.occupancy import Occupancy, curves, occupancy, waves
from warplens.emulator import LANES, RECORD, Checks, LaunchRequest, LaunchTrace, Step, WarpTraces, read_steps, record
from warplens.errors import KernelFault, Unpredictable, UsageError, WarplensError
from warplens.machine import Machine
from warplens.machine import machine as described
from warplens.model import LeastTime, Prediction
from warplens.model import floor as least_time
from warplens.model.grid.inter_block_sync import WAITING
from warplens.model.result.warp_timeline import WarpTimeline
from warplens.model.trace.warp_streams import WarpStreams, order_by_warp
from warplens.report.access_patterns import AccessView, NamedBuffer, access_view, chosen_blocks
from warplens.report.findings.finding_view import FindingView
from warplens.report.headline import headline
from warplens.report.launch_view import LaunchView
from warplens.report.limit_text import with_text
from warplens.report.metric_selection import picked
from warplens.system.atomic_write import write_whole
from warplens.version import __version__

if TYPE_CHECKING:  # the model is loaded when it is first asked
    from warplens.model.predict import LaunchModel

# A warp that executes so many times the launch's instructions a warp is assumed to wait for a block that is not run.
PATIENCE, LEAST_BUDGET = 30, 100_000_000
Question = tuple[
    Program, Trace, Machine, Occupancy, Sequence[tuple[int, int]], Callable[[tuple[int, ...]], WarpStreams]
]  # fmt: skip
PACKAGES = {"nvrtc": "nvidia-cuda-nvrtc", "ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}


class FinishedLaunch(Protocol):
    """Finished launch: the kernel of a run; a LaunchableKernel (kernel.py)."""

    cubin: Cubin
    kernel: Kernel
    name: str

    @property
    def arch(self) -> str: ...
    @property
    def program(self) -> Program: ...


@dataclass(frozen=True)
class Run:
    """What one launch did: `run["metric"]` is a value, `run.metrics` all of them, `run.predict()` the time.

    >>> kernel = wl.compile("examples/copy.cu")["nccopy"]
    >>> x = np.arange(4096, dtype=np.float32)
    >>> run = kernel.launch(32, 128, x, np.zeros_like(x), np.int32(x.size))
    >>> run.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    <Metric 1024 sector, exact>
    >>> run.occupancy.warps, run.occupancy.limiters
    (64, ('warps',))

    labels   names of the arguments;  title, file: what the user calls the kernel, and where it came from
    machine_from   who named the GPU ("--gpu", "WARPLENS_GPU", "this machine", "default", "none"), where known
    input_bytes    of the arrays left unchanged, of all where all were changed;  changed_bytes: of those changed
    again          the request, to run blocks again: arrays that the kernel only reads are the host's own, so changing
                   them changes the rerun
    prediction     of its time, as timed() made it;  unpredicted: why it could not;  what_if: with one cause removed
    advice         what the findings are worth, and what to write instead, where it was asked for
    """

    kernel: FinishedLaunch
    launch: Launch
    counted: LaunchTrace
    machine: Machine
    labels: tuple[str, ...] = ()
    checks: frozenset[Check] = frozenset()
    title: str = ""
    file: str = ""
    machine_from: str = ""
    input_bytes: int = 0
    changed_bytes: int = 0
    again: LaunchRequest | None = None
    prediction: Prediction | None = None
    unpredicted: str = ""
    what_if: Mapping[str, Prediction] = field(default_factory=dict)
    advice: tuple[FindingView, ...] = ()
    _recorded: dict[tuple[tuple[int, ...], bool], WarpStreams] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        """The first sentence of its report, as a prompt shows it."""
        return visible(f"<Run of {headline(self.subject)}>")

    def _repr_html_(self) -> str:
        """Its page, as a notebook shows it."""
        from warplens.report.html import launch_page, notebook

        return notebook.frame(launch_page.page([self.page_subject]))

    @property
    def trace(self) -> Trace:
        """The raw counts."""
        return self.counted.trace

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """What the checks found, by place in the code; () where none was asked for."""
        return self.counted.hazards

    @property
    def _block(self) -> tuple[int, int, int, int, int]:
        """Resources of a block on an SM, as arguments of occupancy() and curves()."""
        kernel = self.kernel.kernel
        threads = self.launch.threads_per_block
        return kernel.registers, threads, kernel.shared_bytes, self.launch.shared, kernel.barriers

    @cached_property
    def occupancy(self) -> Occupancy:
        """Theoretical occupancy: resident blocks and warps per SM, and what limits them."""
        return occupancy(self.machine, *self._block)

    def floor(self, gpu: str | None = None) -> LeastTime:
        """The least time on a GPU: what each unit must spend at its peak rate; no prediction of the time itself.

        gpu   its name (default: the one of the launch)
        UsageError for a GPU that is not known, whose machine code is another, or on which no block fits.
        """
        machine = self._described(gpu)
        resident = occupancy(machine, *self._block)
        return least_time(self.kernel.program, self.trace, machine, resident, self.input_bytes)

    def predict(self, gpu: str | None = None, what_if: Sequence[str] = ()) -> Prediction:
        """How long the launch takes on a GPU, and why: modelled.

        gpu       its name (default: the one of the launch)
        what_if   causes to remove, of warplens.model.WHAT_IF
        Some blocks are run again for it, with the arrays that the kernel only reads as they are now.
        UsageError for a GPU that is not known, whose machine code is another, or on which no block fits;
        Unpredictable where an assumption of the model does not hold for this launch.

        >>> x = np.zeros(1 << 20, np.float32)
        >>> run = wl.compile("examples/copy.cu")["ccopy"].launch(8192, 128, x, x.copy(), np.int32(x.size))
        >>> prediction = run.predict("h200")
        >>> prediction.low_us < prediction.time_us < prediction.high_us
        True
        >>> prediction.metrics["dram__bytes_read.sum"].provenance
        'modelled'
        """
        return with_text(launch_model(self, gpu, what_if).prediction())

    def timeline(self, gpu: str | None = None) -> WarpTimeline:
        """What each warp of one SM does when, as the model has it; errors are those of predict().

        gpu   its name (default: the one of the launch)

        >>> x = np.zeros(1 << 14, np.float32)
        >>> run = wl.compile("examples/copy.cu")["ccopy"].launch(128, 128, x, x.copy(), np.int32(x.size))
        >>> next(iter(run.timeline("h200").shares()))
        'long_scoreboard'
        """
        from warplens.model.predict import timeline

        return timeline(*self._question(gpu))

    def _question(self, gpu: str | None) -> Question:
        """The launch on a GPU, as the model wants it."""
        machine = self._described(gpu)
        resident = occupancy(machine, *self._block)
        assert self.again is not None
        buffers = [(a.address, a.address + a.size) for a in self.again.memory.in_use]
        recorded = partial(self._record, resident.blocks * machine.multiprocessors)
        return self.kernel.program, self.trace, machine, resident, buffers, recorded

    def steps(self, blocks: Sequence[int] = (0,)) -> tuple[Step, ...]:
        """What the warps of these blocks do, lane by lane, in the order in which they run: the basic blocks of code
        that they enter and the addresses that they reach.

        The blocks are run again, with the arrays that the kernel only reads as they are now.  UsageError for blocks
        that the grid has not, or that do too much to be kept.
        """
        wrong = [block for block in blocks if not 0 <= block < self.launch.blocks]
        if wrong:
            raise UsageError(f"there is no block {wrong[0]}; the grid has blocks 0 to {self.launch.blocks - 1}")
        found = self._run_again(tuple(blocks), LANES)
        if not found.whole:
            raise UsageError(f"the steps of {len(blocks)} blocks are too many to be kept: ask for fewer blocks")
        return tuple(read_steps(found))

    def _record(self, at_once: int, blocks: tuple[int, ...]) -> WarpStreams:
        """Warp traces of these blocks; kept for later predictions: another GPU, a cause removed."""
        question = blocks, self.launch.blocks <= at_once
        if question not in self._recorded:
            streams = self._run_again(blocks, RECORD, at_once)
            self._recorded[question] = order_by_warp(streams, self.launch.warps_per_block)
        return self._recorded[question]

    def _run_again(self, blocks: tuple[int, ...], how: Checks, at_once: int = 0) -> WarpTraces:
        assert self.again is not None
        usual = int(self.trace.executed.sum()) // (self.launch.blocks * self.launch.warps_per_block)
        try:
            patient = replace(self.again, budget=PATIENCE * usual + LEAST_BUDGET)
            return record(patient, blocks, at_once=at_once, how=how)
        except KernelFault:
            raise Unpredictable(WAITING) from None

    def _described(self, gpu: str | None) -> Machine:
        """The requested GPU; UsageError if its machine code is another."""
        machine = described(gpu) if gpu else self.machine
        code = self.kernel.arch
        if code.rstrip("af") != machine.arch.rstrip("af"):
            raise UsageError(
                f"the machine code is for {code}, {machine.title} is {machine.arch}: compile with arch={machine.arch}"
            )
        return machine

    def timed(self, what_if: Sequence[str] = ()) -> Run:
        """The same run with the prediction of its time on its GPU, and with each cause removed that `what_if` names;
        or with the reason why the model does not apply.  UsageError where the machine code is for another GPU."""
        try:
            prediction = self.predict()
            removed = {name: self.predict(what_if=(name,)) for name in what_if}
        except Unpredictable as reason:
            return replace(self, unpredicted=str(reason))
        return replace(self, prediction=prediction, what_if=removed)

    def plot(self, kind: str = "instructions", count: int = 10, ax: Any = None) -> Any:
        """A picture of the launch with matplotlib; the Axes.

        kind    "instructions" or "sectors": by source line, hottest first;  "roofline": of a run that is timed()
        count   source lines at the most;  ax: where to draw (default: a new figure)
        UsageError if matplotlib is not installed, for another kind, or where there is no roofline.
        """
        from warplens.report.plots.line_plot import plot_instructions, plot_sectors
        from warplens.report.plots.roofline_plot import plot_roofline

        by_line = {"instructions": plot_instructions, "sectors": plot_sectors}
        if kind == "roofline":
            return plot_roofline(self.subject, plot_axes(ax))
        if kind not in by_line:
            raise UsageError(f"no plot {kind!r} of a run is known, only {', '.join(by_line)}, roofline")
        return by_line[kind](self.subject, plot_axes(ax), count)

    @property
    def printed(self) -> str:
        """What the kernel's printf wrote, block after block in order of their numbers."""
        return self.counted.printed

    @cached_property
    def metrics(self) -> Metrics:
        """Every metric of the launch under its Nsight Compute name."""
        full = waves(self.machine, self.occupancy, self.launch.blocks)
        drawn = curves(self.machine, *self._block)
        return Metrics(metrics(self.kernel.program, self.trace, self.kernel.kernel, self.occupancy, full, drawn))

    def __getitem__(self, name: str) -> float | int:
        """The value of a metric; KeyError for an unknown name, with the nearest ones."""
        return self.metrics[name].value

    @cached_property
    def subject(self) -> LaunchView:
        """The run as reports see it."""
        kernel = self.kernel
        compiled = kernel.cubin.sources
        return LaunchView(
            title=self.title or kernel.name,
            file=self.file or next(iter(compiled), "a cubin"),
            kernel=kernel.kernel,
            program=kernel.program,
            launch=self.launch,
            trace=self.trace,
            metrics=self.metrics,
            occupancy=self.occupancy,
            machine=self.machine,
            machine_from=self.machine_from,
            labels=self.labels,
            sources=compiled or sources_beside(kernel.cubin.folder, kernel.program),
            tools=self._tools,
            checks=tuple(check for check in CHECKS if check in self.checks),
            input_bytes=self.input_bytes,
            changed_bytes=self.changed_bytes,
            prediction=self.prediction,
            unpredicted=self.unpredicted,
            what_if=self.what_if,
            advice=self.advice,
        )

    @property
    def _tools(self) -> dict[str, str]:
        """Versions of what made the machine code and the listing."""
        cubin = self.kernel.cubin
        if cubin.made_by:
            return dict([cubin.made_by]) | tool_versions("")
        return tool_versions("nvrtc" if cubin.sources else "ptxas" if is_ptx(self.file or "") else "")

    @cached_property
    def page_subject(self) -> LaunchView:
        """The run as pages see it: with the accesses of some blocks, which are run again for it, and if its time is
        predicted with the timeline of one SM."""
        return replace(
            self.subject, accesses=self._accesses(), timeline=self.timeline() if self.prediction else None
        )  # fmt: skip

    def _accesses(self) -> AccessView:
        blocks = chosen_blocks(self.launch, int(self.trace.requests.sum()))
        if not blocks:
            return AccessView(missing="A block makes more requests than are traced for pictures.")
        try:
            steps = self.steps(blocks)
        except WarplensError as error:  # Unpredictable: blocks that wait for others; UsageError: too many steps
            return AccessView(missing=f"No pictures: {error}.")
        assert self.again is not None
        names = {place: label for place, label in enumerate(self.labels) if label}
        buffers = [
            NamedBuffer(allocation.name or names.get(place, f"buffer {place}"), allocation.address, allocation.size)
            for place, allocation in enumerate(self.again.memory.in_use)
        ]
        return access_view(self.kernel.program, self.launch, blocks, steps, buffers)

    def json(self) -> str:
        """The run as one JSON document: report/json/schema.json describes it."""
        from warplens.report.json import document as writer

        return writer.text(self.document())

    def document(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """The same as dictionaries and lists; with `names` only these of its metrics."""
        from warplens.report.json import document as writer

        chosen = {name: metric for name, metric in picked(names, self.subject.all_metrics).items() if metric}
        return writer.document(self.subject, chosen)

    def report(self, path: str | Path) -> None:
        """Writes the run to `path`: a page for .html, the document for .json.  UsageError for another ending."""
        kind = Path(path).suffix.lower()
        if kind == ".json":
            write_text(path, self.json())
        elif kind == ".html":
            from warplens.report.html.launch_page import page

            write_text(path, page([self.page_subject]))
        else:
            raise UsageError(f"a report cannot be written to {path}: .html and .json are possible endings")


def launch_model(
    run: Run, gpu: str | None = None, what_if: Sequence[str] = (), effort: float = 1.0
) -> LaunchModel:  # fmt: skip
    """The launch as the model has it, to be predicted whatever L2 holds at its start; arguments and errors are those
    of run.predict(), effort that of model.predict.launch_model()."""
    from warplens.model.predict import launch_model

    return launch_model(*run._question(gpu), what_if=what_if, effort=effort)


def sources_beside(folder: Path | None, program: Program) -> dict[str, str]:
    """Source files named by the line table of a cubin in this folder, if they are in it or below.

    An untrusted cubin may name any file, whose text would then be in a report that is passed on; so files elsewhere,
    also by "..", by a link or in a hidden folder, are not read.
    """
    found: dict[str, str] = {}
    if folder is None:
        return found
    for name in sorted({i.source.file for i in program.instructions if i.source}):
        with suppress(OSError, ValueError, RuntimeError):  # missing, not below, no text, or a link loop
            path = Path(name).resolve(strict=True)
            below = path.relative_to(folder.resolve())
            if path.is_file() and not any(part.startswith(".") for part in below.parts):
                found[name] = path.read_text(encoding="utf-8")
    return found


def write_text(path: str | Path, content: str) -> None:
    try:
        write_whole(Path(path), content.encode())
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        raise UsageError(f"cannot write {path}: {getattr(error, 'strerror', error)}") from None


def tool_versions(compiler: str) -> dict[str, str]:
    """Versions of the tools used; compiler: a key of PACKAGES, or "" if none was."""
    from importlib.metadata import version

    names = filter(None, (compiler, "nvdisasm"))
    return {"warplens": __version__} | {name: version(PACKAGES[name]) for name in names}
