"""Prediction: the modelled time of a launch on a GPU, its interval and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warplens.core.html_table import html_table, three_digits
from warplens.core.metric import Metric
from warplens.core.plot_axes import bars, plot_axes
from warplens.machine.parameter import Parameter
from warplens.model.result.bottleneck import Bottleneck

WHAT_IF = ("ideal_access", "no_bank_conflicts", "no_divergence", "full_occupancy", "double_bandwidth")
"""Causes of time that a prediction can do without."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Speed of light of one unit.

    name       "DRAM", "L2 reads", "load/store unit", "issue slots", "block starts", "alu pipe" ...
    achieved, peak   in `unit` ("GB/s", "instructions/cycle", "wavefronts/cycle" ...);  percent = 100 achieved / peak
    """

    name: str
    achieved: float
    peak: float
    unit: str

    @property
    def percent(self) -> float:
        return 100 * self.achieved / self.peak if self.peak else 0.0


@dataclass(frozen=True, slots=True)
class Simulated:
    """Share of the grid that the model ran, and why that is enough.

    blocks, of_blocks   of one SM: simulated, and all;  instructions: of the simulated ones
    resident            blocks of an SM that start at once;  repetitions: of the simulated part in the SM's work
    why                 one line of text (report/limit_text.py)
    """

    blocks: int
    of_blocks: int
    instructions: int
    resident: int = 1
    repetitions: float = 1.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted time: its interval, and what it is made of.

    >>> x = np.zeros(1 << 20, np.float32)
    >>> run = wl.compile("examples/copy.cu")["ccopy"].launch(8192, 128, x, x.copy(), np.int32(x.size))
    >>> prediction = run.predict("h200")
    >>> prediction.low_us < prediction.time_us < prediction.high_us, max(prediction.stalls, key=prediction.stalls.get)
    (True, 'long_scoreboard')

    gpu          key of its description
    time_us      between two CUDA events around the launch, with the interval low_us..high_us
    duration_us  of the kernel alone, Nsight Compute's gpu__time_duration.sum, with duration_low_us..duration_high_us
                 likewise
    limit        one line of text: what the time is made of;  bottleneck: the same with its figures
    units        speed of light, highest first
    metrics      Nsight Compute's names -> Metric with provenance "modelled"
    stalls       Nsight's stall reason ("long_scoreboard", "wait", "barrier", "selected" ...) -> warp cycles per issued
                 instruction; they add up to the warp cycles per issued instruction
    stalls_at    the same by instruction index: (reason -> warp cycles, summed over the simulated blocks)
    calibrated   "H200, 2026-11-21, driver ..." or "" where the GPU's tables are public numbers: then every output is
                 labelled `uncalibrated`
    assumptions  numbers of the GPU that were read on another one, none where it is calibrated: how far they hold here
                 nobody has measured
    coverage_measured   whether it was measured that such intervals hold 9 of 10 times: on this GPU, for launches whose
                 blocks do not wait for each other; elsewhere the interval is assumed
    """

    gpu: str
    time_us: float
    low_us: float
    high_us: float
    duration_us: float
    duration_low_us: float
    duration_high_us: float
    bottleneck: Bottleneck
    units: tuple[Unit, ...]
    metrics: Mapping[str, Metric]
    stalls: Mapping[str, float]
    stalls_at: Mapping[int, Mapping[str, float]]
    simulated: Simulated
    calibrated: str = ""
    coverage_measured: bool = False
    limit: str = ""
    assumptions: tuple[Parameter, ...] = ()

    def __repr__(self) -> str:
        interval = f"{self.low_us:.3g} to {self.high_us:.3g} us"
        return f"<Prediction {self.time_us:.3g} us ({interval}) on {self.gpu}: {self.limit}>"

    @property
    def _label(self) -> str:
        return "modelled" if self.calibrated else "modelled, uncalibrated"

    def plot(self, ax: Any = None) -> Any:
        """Speed of light: how busy each unit is, with matplotlib; the Axes.

        ax   where to draw (default: a new figure).  UsageError if matplotlib is not installed.
        """
        axes = plot_axes(ax)
        bars(axes, [unit.name for unit in self.units], [unit.percent for unit in self.units], "% of its peak")
        axes.set_xlim(0, 100)
        axes.set_title(f"{self.gpu}: {three_digits(self.time_us)} µs ({self._label})")
        return axes

    def _repr_html_(self) -> str:
        """Tables of its time, units and stalls, as a notebook shows them."""
        label = self._label
        span = "90 % interval" if self.coverage_measured else "assumed interval"
        times = [
            (name, three_digits(us), f"{three_digits(low)} to {three_digits(high)}")
            for name, us, low, high in (
                ("Event time", self.time_us, self.low_us, self.high_us),
                ("Kernel duration", self.duration_us, self.duration_low_us, self.duration_high_us),
            )
        ]
        units = [
            (unit.name, f"{unit.percent:.1f}", three_digits(unit.achieved), f"{three_digits(unit.peak)} {unit.unit}")
            for unit in self.units
        ]
        stalls = sorted(self.stalls.items(), key=lambda pair: (-pair[1], pair[0]))
        cycles = [(reason, three_digits(amount)) for reason, amount in stalls if amount]
        return (
            html_table(("Time", "µs", span), times, f"{self.gpu} ({label}): {self.limit}")
            + html_table(("Unit", "%", "Achieved", "Peak"), units, f"Speed of Light ({label})")
            + html_table(("Stall", "Cycles per issued instruction"), cycles, f"Stalls ({label})")
        )
