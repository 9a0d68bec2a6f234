"""The roofline: floating-point work a second against work a byte of DRAM, below what the GPU admits.

Work is what Nsight Compute counts as FLOP: additions and multiplications 1, fused ones 2, lanes that are switched off
none; tensor cores are left out.  Bytes are those of DRAM, from the model.  Williams, Waterman and Patterson,
"Roofline", CACM 52 (4), 2009.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warplens.machine import Machine
from warplens.model.result.prediction import Prediction
from warplens.report.launch_view import LaunchView
from warplens.report.prediction_view import digits
from warplens.report.wording import percent

OPERATIONS = {"FP32": "f", "FP64": "d"}


@dataclass(frozen=True, slots=True)
class Roofline:
    """One precision of one launch.

    intensity    FLOP per byte of DRAM;  achieved, peak: 10^9 FLOP/s;  bandwidth: 10^9 bytes/s
    """

    precision: str
    intensity: float
    achieved: float
    peak: float
    bandwidth: float

    @property
    def roof(self) -> float:
        """What the GPU admits at this intensity, 10^9 FLOP a second."""
        return min(self.peak, self.intensity * self.bandwidth)

    @property
    def summary(self) -> str:
        """ "0.25 FLOP per byte of DRAM; 541 of 1,200 GFLOP/s that the bandwidth of DRAM admits"."""
        by = "the bandwidth of DRAM admits" if self.roof < self.peak else f"the {self.precision} lanes admit"
        scale, unit = (1000, "TFLOP/s") if self.roof >= 10_000 else (1, "GFLOP/s")
        return (
            f"{digits(self.intensity)} FLOP per byte of DRAM; {digits(self.achieved / scale)} of the "
            f"{digits(self.roof / scale)} {unit} that {by} ({percent(self.achieved / self.roof)})"
        )


def rooflines(subject: LaunchView, prediction: Prediction) -> list[Roofline]:
    """Of the precisions that the kernel computes in; none where it does not, or where DRAM is not touched."""
    return list(_rooflines(subject, prediction))


def _rooflines(subject: LaunchView, prediction: Prediction) -> Iterator[Roofline]:
    moved = sum(metric.value for name, metric in prediction.metrics.items() if name in DRAM_BYTES)
    for precision in OPERATIONS:
        work = flop(subject, precision)
        if work and moved and prediction.time_us:
            yield Roofline(
                precision, work / moved, work / prediction.time_us / 1000, peak(subject.machine, precision),
                bandwidth(subject.machine, prediction),
            )  # fmt: skip


DRAM_BYTES = ("dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes_op_read.sum", "dram__bytes_op_write.sum")


def flop(subject: LaunchView, precision: str) -> float:
    letter = OPERATIONS[precision]
    name = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
    weights = {f"{letter}add": 1, f"{letter}mul": 1, f"{letter}fma": 2}
    return sum(weight * subject[name.format(operation)] for operation, weight in weights.items())


def peak(machine: Machine, precision: str) -> float:
    """10^9 FLOP a second with a fused operation in every lane at the boost clock."""
    lanes = machine.limits.fp32_lanes if precision == "FP32" else machine.limits.fp64_lanes
    return 2 * lanes * machine.multiprocessors * machine.boost_megahertz / 1000


def bandwidth(machine: Machine, prediction: Prediction) -> float:
    """10^9 bytes a second: the model's peak of DRAM, which is the measured one where there is one."""
    peaks = [unit.peak for unit in prediction.units if unit.name == "DRAM" and unit.unit == "GB/s"]
    return peaks[0] if peaks else float(machine.dram_gigabytes_per_second)
