"""Prediction view: rows of times, metrics, stalls and what-ifs, which the terminal and the page lay out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from warplens.core.cubin import SourceLine
from warplens.core.metric import Metric
from warplens.model.result.prediction import Prediction
from warplens.report.launch_view import LaunchView

REASONS = {
    "selected": "issued an instruction",
    "not_selected": "could issue, but another warp did",
    "long_scoreboard": "waits for global, local or texture memory",
    "short_scoreboard": "waits for shared memory, a special function, a conversion",
    "wait": "fixed-latency dependency on its last instruction",
    "barrier": "waits at a barrier for other warps of its block",
    "membar": "waits for a memory fence",
    "branch_resolving": "waits for the target of a branch",
    "no_instruction": "its next instruction is not fetched yet",
    "imc_miss": "waits for a constant that is not in its cache",
    "lg_throttle": "the queue for global and local memory is full",
    "mio_throttle": "the queue for shared memory, shuffles, special functions is full",
    "tex_throttle": "the queue for textures is full",
    "math_pipe_throttle": "the arithmetic pipe that it needs is busy",
    "dispatch_stall": "the dispatcher holds it back",
    "drain": "ends, and its stores are still on their way",
    "sleeping": "sleeps",
    "gmma": "waits for a matrix product of its warp group",
    "misc": "something else",
}
"""Nsight Compute's reasons why a warp does not issue, and `selected`: what the warp does in that cycle."""

KEY_METRICS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Achieved Occupancy", ("sm__warps_active.avg.pct_of_peak_sustained_active",)),
    ("Warp Cycles per Executed Instruction", ("smsp__average_warps_active_per_inst_executed.ratio",)),
    ("Warp Cycles per Issued Instruction", ("smsp__average_warp_latency_per_inst_issued.ratio",)),
    ("Executed IPC Active", ("sm__inst_executed.avg.per_cycle_active",)),
    ("L1 Hit Rate", ("l1tex__t_sector_hit_rate.pct",)),
    ("L2 Hit Rate", ("lts__t_sector_hit_rate.pct",)),
    ("DRAM Read", ("dram__bytes_read.sum", "dram__bytes_op_read.sum")),
    ("DRAM Written", ("dram__bytes_write.sum", "dram__bytes_op_write.sum")),
)
"""Label and the metric behind it, which has another name on newer chips."""

CAUSES = {
    "ideal_access": "all accesses fully coalesced",
    "no_bank_conflicts": "no bank conflicts",
    "no_divergence": "no divergence",
    "full_occupancy": "full occupancy",
    "double_bandwidth": "twice the bandwidth of DRAM and L2",
}
"""What --what-if takes away or adds, in words."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Warp cycles per issued instruction, and their share of all."""

    reason: str
    cycles: float
    share: float

    @property
    def meaning(self) -> str:
        return REASONS.get(self.reason, "")


@dataclass(frozen=True, slots=True)
class LineStalls:
    """Where warps spend their time: share of all warp cycles, and the reasons with most of it as (reason, share of
    the line's)."""

    place: SourceLine
    text: str
    share: float
    reasons: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The time with one cause removed."""

    name: str
    now_us: float
    then_us: float

    @property
    def cause(self) -> str:
        return CAUSES.get(self.name, self.name.replace("_", " "))

    @property
    def speedup(self) -> str:
        """ "1.38 times as fast", "no change"."""
        ratio = self.now_us / self.then_us
        return "no change" if abs(ratio - 1) < 0.005 else f"{ratio:.3g} times as fast"


def provenance(prediction: Prediction) -> str:
    """The label of every section of a prediction."""
    return "modelled" if prediction.calibrated else "modelled, uncalibrated"


def calibration(prediction: Prediction) -> str:
    if prediction.calibrated:
        return prediction.calibrated
    published = "uncalibrated: the speeds of this GPU are published numbers, not measured"
    if not prediction.assumptions:
        return published
    origin = prediction.assumptions[0].declared.removesuffix(".toml").upper()
    count, listed = len(prediction.assumptions), f"`warplens gpus --numbers {prediction.gpu}` lists them"
    return f"{published}; {count} others are those of an {origin}: {listed}"


def spoken(microseconds: float) -> str:
    """ "83.0 µs", "1.24 ms", "2.50 s"."""
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= 0.9995 * size:
            return f"{digits(microseconds / size)} {unit}"
    return f"{digits(microseconds)} µs"


def digits(amount: float) -> str:
    """Three significant digits, and whole numbers from 100 on."""
    if amount >= 99.95:
        return f"{amount:,.0f}"
    return f"{amount:.1f}" if amount >= 9.995 else f"{amount:.2f}" if amount >= 0.1 else f"{amount:.3g}"


EVENT_TIME, DURATION = "Event time", "Kernel duration"
MEANINGS = {
    EVENT_TIME: "between two CUDA events around the launch",
    DURATION: "gpu__time_duration.sum of Nsight Compute",
}


def times(prediction: Prediction) -> dict[str, str]:
    """Both times by name: "82.3 µs, 90 % interval 63.8-106 µs", or "assumed interval" where it was not measured."""
    spans = {
        EVENT_TIME: (prediction.time_us, prediction.low_us, prediction.high_us),
        DURATION: (prediction.duration_us, prediction.duration_low_us, prediction.duration_high_us),
    }
    kind = "90 % interval" if prediction.coverage_measured else "assumed interval"
    return {name: f"{spoken(us)}, {kind} {interval(low, high)}" for name, (us, low, high) in spans.items()}


def interval(low_us: float, high_us: float) -> str:
    """ "63.8-106 µs", "850 µs - 1.23 ms"."""
    low, high = spoken(low_us), spoken(high_us)
    (number, unit), high_unit = low.split(" "), high.split(" ")[1]
    return f"{number}-{high}" if unit == high_unit else f"{low} - {high}"


def simulated(prediction: Prediction) -> str:
    done = prediction.simulated
    return f"{done.why} ({done.instructions:,} warp instructions)"


def facts(prediction: Prediction) -> dict[str, str]:
    """The key metrics that the model gives, by label."""
    rows = {}
    for label, names in KEY_METRICS:
        if found := next((prediction.metrics[name] for name in names if name in prediction.metrics), None):
            rows[label] = measure(found)
    return rows


def measure(metric: Metric) -> str:
    """ "74.2 %", "67.1 MB", "86.8 cycles"."""
    if metric.unit == "byte":
        return in_bytes(metric.value)
    unit = metric.unit + "s" * (metric.unit == "cycle")
    odd = " (so Nsight Compute counts in small launches)" if unit == "%" and metric.value > 100 else ""
    return f"{digits(metric.value)} {unit}".rstrip() + odd


def in_bytes(amount: float) -> str:
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if amount >= 0.9995 * size:
            return f"{digits(amount / size)} {unit}"
    return f"{amount:,.0f} byte" + "s" * (round(amount) != 1)


def stalls(prediction: Prediction) -> list[Stall]:
    """Most cycles first; those without are left out."""
    total = sum(prediction.stalls.values()) or 1.0
    rows = [Stall(reason, cycles, cycles / total) for reason, cycles in prediction.stalls.items() if cycles]
    return sorted(rows, key=lambda row: (-row.cycles, row.reason))


def stalls_by_line(subject: LaunchView, prediction: Prediction) -> list[LineStalls]:
    """The source lines where warps spend cycles, most first; code without a line is left out."""
    lines: dict[SourceLine, Counter[str]] = {}
    for index, reasons in prediction.stalls_at.items():
        if place := subject.program.instructions[index].source:
            add(lines.setdefault(place, Counter()), reasons)
    total = sum(sum(reasons.values()) for reasons in prediction.stalls_at.values()) or 1.0
    rows = [line_stalls(subject, place, reasons, total) for place, reasons in lines.items()]
    return sorted((row for row in rows if row.share), key=lambda row: (-row.share, row.place.file, row.place.line))


def add(into: Counter[str], reasons: Mapping[str, float]) -> None:
    for reason, cycles in reasons.items():
        into[reason] += cycles  # type: ignore[assignment]  # cycles may have fractions


def line_stalls(subject: LaunchView, place: SourceLine, reasons: Mapping[str, float], total: float) -> LineStalls:
    own = sum(reasons.values())
    ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    ranked = tuple((reason, cycles / own) for reason, cycles in ordered if cycles)
    return LineStalls(place, subject.text_of(place), own / total, ranked)


def what_ifs(subject: LaunchView) -> list[WhatIf]:
    """In the order in which they were asked for."""
    now = subject.prediction
    if now is None:
        return []
    return [WhatIf(name, now.time_us, then.time_us) for name, then in subject.what_if.items()]
