"""Program view: what a whole program did on the GPU, as reports see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from warplens.core.launch import Launch
from warplens.core.metric import Metric
from warplens.machine import Machine

PURPOSE = (
    "warplens analyses and predicts kernels for NVIDIA GPUs; it is no way to use CUDA programs without one.  "
    "Every time of the GPU that the program printed is a prediction."
)


@dataclass
class LaunchGroup:
    """Launch group: the launches of one kernel in one shape.

    executed   launches that were executed; the others repeated one of these exactly
    time_us    predicted, of all together, with the interval low_us..high_us
    limit      what the time of the first launch is made of, or why it is not predicted
    metrics    of the first launch, by Nsight Compute's names, exact and modelled
    unpredicted   launches without a prediction: their time is the least that the GPU's units allow
    """

    kernel: str
    launch: Launch
    launches: int = 0
    executed: int = 0
    unpredicted: int = 0
    time_us: float = 0.0
    low_us: float = 0.0
    high_us: float = 0.0
    limit: str = ""
    metrics: Mapping[str, Metric] = field(default_factory=dict)


@dataclass
class Transfer:
    """Transfer: copies of one direction, or fills."""

    copies: int = 0
    size: int = 0
    time_us: float = 0.0


@dataclass
class ProgramView:
    """Program view: `groups` in the order of their first launch; `transfers` by "host to device" and so on.

    missing   CUDA functions that the program called and that are not provided;  notes: sentences on assumptions
    faults    of kernels, as they were reported;  ended: why the report ends before the program, "" if it does not
    """

    command: str
    machine: Machine
    groups: list[LaunchGroup] = field(default_factory=list)
    transfers: dict[str, Transfer] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ended: str = ""

    @property
    def kernel_us(self) -> float:
        return sum(group.time_us for group in self.groups)
