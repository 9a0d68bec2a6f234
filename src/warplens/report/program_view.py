"""Program view: what a whole program did on the GPU, as reports see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warplens.core.hazard import Severity
from warplens.core.launch import Launch
from warplens.core.metric import Metric
from warplens.machine import Machine, machine
from warplens.report.launch_view import LaunchView
from warplens.report.timeline import COPY, KERNEL, Timeline, Work
from warplens.rules import Finding, LinkCopies, ProgramActivity, program_findings

INTO, OUT_OF, WITHIN = "host to device", "device to host", "device to device"  # directions of copies
LINK_OF = "h200"  # whose link to the host is taken for a GPU of which it is not described
PURPOSE = (
    "warplens analyses and predicts kernels for NVIDIA GPUs; it is no way to use CUDA programs without one.  "
    "Every time of the GPU that the program printed is a prediction."
)


@dataclass
class LaunchGroup:
    """Launch group: the launches of one kernel in one shape.

    executed   launches that were executed; the others repeated one of these exactly
    uncounted  launches that were executed without counters: their time is that of a counted one, in proportion to
               their instructions
    time_us    predicted, of all together, with the interval low_us..high_us
    cold_us    the same time if L2 were empty at the start of each launch; warm: launches whose time is another
    limit      what the time of the first launch is made of, or why it is not predicted
    first      the first of them that was counted, if any was
    unpredicted   launches without a prediction: their time is the least that the GPU's units allow
    """

    kernel: str
    launch: Launch
    launches: int = 0
    executed: int = 0
    uncounted: int = 0
    unpredicted: int = 0
    time_us: float = 0.0
    low_us: float = 0.0
    high_us: float = 0.0
    cold_us: float = 0.0
    warm: int = 0
    limit: str = ""
    first: LaunchView | None = None
    metrics: Mapping[str, Metric] = field(default_factory=dict)


@dataclass
class SelectedLaunch:
    """Selected launch: a launch with its counters, exact and modelled, by Nsight Compute's names.

    number    of all launches of the program, from 0
    process   that launched it;  stream: 0 until its time is known
    """

    number: int
    kernel: str
    launch: Launch
    arch: str
    process: int
    metrics: Mapping[str, Metric]
    stream: int = 0


@dataclass
class ProgramFinding:
    """Program finding: what --check found: of a kernel, or of the host's calls; `times`: how often."""

    check: str
    severity: Severity
    message: str
    kernel: str | None = None
    times: int = 1


@dataclass(frozen=True)
class SavedFile:
    """Saved file: the number-th launch of a kernel, from 1, in a file, for `warplens explain --from`."""

    kernel: str
    number: int
    file: str


@dataclass
class Transfer:
    """Transfer: copies of one direction, or fills.

    pageable, pageable_size, pageable_us   of those whose memory on the host is not page-locked
    """

    copies: int = 0
    size: int = 0
    time_us: float = 0.0
    pageable: int = 0
    pageable_size: int = 0
    pageable_us: float = 0.0


@dataclass
class ProgramView:
    """Program view: `groups` in the order of their first launch; `transfers` by "host to device" and so on.

    processes   names of the processes that used the GPU, by number
    counted     the launches that were selected to be counted
    checks      that were on; None without --check;  findings: what they found
    missing   CUDA functions that the program called and that are not provided;  notes: sentences on assumptions
    faults    of kernels, as they were reported;  ended: why the report ends before the program, "" if it does not
    running   what `warplens run` does just now, such as "executing scale"; "" for nothing
    """

    command: str
    machine: Machine
    groups: list[LaunchGroup] = field(default_factory=list)
    counted: list[SelectedLaunch] = field(default_factory=list)
    processes: dict[int, str] = field(default_factory=dict)
    transfers: dict[str, Transfer] = field(default_factory=dict)
    timeline: Timeline = field(default_factory=Timeline)
    checks: tuple[str, ...] | None = None
    findings: list[ProgramFinding] = field(default_factory=list)
    saved: list[SavedFile] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: str = ""
    running: str = ""

    @property
    def kernel_us(self) -> float:
        return sum(group.time_us for group in self.groups)

    @property
    def launches(self) -> int:
        return sum(group.launches for group in self.groups)

    @property
    def uncounted(self) -> int:
        """Launches executed without counters."""
        return sum(group.uncounted for group in self.groups)

    @property
    def activity(self) -> ProgramActivity | None:
        """What rules read; None where no link to a host is known."""
        link = self.machine.host_link or machine(LINK_OF).host_link
        if link is None:
            return None
        timeline = self.timeline
        kernels: dict[str, float] = {}
        for group in self.groups:
            kernels[group.kernel] = kernels.get(group.kernel, 0.0) + group.time_us
        into, out_of = (self._link_copies(direction) for direction in (INTO, OUT_OF))
        work, _ = timeline.spans(lambda one: one.kind == KERNEL or one == Work(COPY, WITHIN))
        return ProgramActivity(link, into, out_of, work, kernels, timeline.busy() / 1000)

    def _link_copies(self, direction: str) -> LinkCopies:
        spans, sizes = self.timeline.spans(lambda work: work == Work(COPY, direction))
        found = self.transfers.get(direction, Transfer())
        return LinkCopies(found.pageable, found.pageable_size, found.pageable_us, spans, sizes)

    @property
    def advice(self) -> list[Finding]:
        """What rules find in the program as a whole, heaviest first."""
        activity = self.activity
        return program_findings(activity) if activity else []

    @property
    def failed_check(self) -> bool:
        """Whether --check found more than notes."""
        return any(finding.severity != "note" for finding in self.findings)
