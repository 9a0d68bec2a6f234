"""A prediction whose numbers are easy to follow; no model made it."""

from __future__ import annotations

from dataclasses import replace

from helpers.report_runs import subject_of
from warplens.core.metric import Metric
from warplens.model.result.bottleneck import Bottleneck, MemoryLatency
from warplens.model.result.prediction import Prediction, Simulated, Unit
from warplens.report.launch_view import LaunchView

STALLS = {"long_scoreboard": 60.0, "wait": 12.0, "not_selected": 5.0, "selected": 1.0, "barrier": 2.0, "membar": 0.0}


def made_up(subject: LaunchView, calibrated: str = "H200, 2026-11-21, driver 580") -> Prediction:
    """80 µs; the last store has three quarters of the stalls, the first instruction the rest."""
    body = subject.program.body
    store = next(i for i in reversed(body) if i.base in ("STG", "REDG", "RED"))
    return Prediction(
        gpu=subject.machine.key,
        time_us=80.0,
        low_us=72.5,
        high_us=1234.5,
        duration_us=78.7,
        duration_low_us=71.2,
        duration_high_us=1200.0,
        limit="each thread has one 4-byte load in flight: latency of DRAM, not its bandwidth",
        units=(
            Unit("DRAM", 3000.0, 4000.0, "GB/s"),
            Unit("issue slots", 0.5, 4.0, "instructions/cycle"),
            Unit("shared memory", 0.0, 1.0, "wavefronts/cycle"),
        ),
        metrics={
            "sm__warps_active.avg.pct_of_peak_sustained_active": Metric(74.19, "%", "modelled"),
            "gpu__time_duration.sum": Metric(80_000.0, "ns", "modelled"),
            "dram__bytes_read.sum": Metric(67_108_864, "byte", "modelled"),
            "dram__bytes_write.sum": Metric(640, "byte", "modelled"),
            "l1tex__t_sector_hit_rate.pct": Metric(0.0, "%", "modelled"),
            "smsp__average_warps_active_per_inst_executed.ratio": Metric(86.79, "cycle", "modelled"),
        },
        stalls=STALLS,
        stalls_at={
            body[0].index: {"wait": 250.0},
            store.index: {"long_scoreboard": 700.0, "wait": 50.0, "membar": 0.0},
        },
        bottleneck=Bottleneck(MemoryLatency("DRAM", 1, 4)),
        simulated=Simulated(264, 131_072, 4_200_000, why="264 of 131,072 blocks: the second wave repeats the first"),
        calibrated=calibrated,
        coverage_measured=bool(calibrated),
    )


def predicted(name: str, calibrated: str = "H200, 2026-11-21, driver 580") -> LaunchView:
    """A run of runs.py with such a prediction, and with one that would take half of its time."""
    subject = subject_of(name)
    prediction = made_up(subject, calibrated)
    then = {"ideal_access": replace(prediction, time_us=40.0), "no_divergence": replace(prediction, time_us=80.1)}
    return replace(subject, prediction=prediction, what_if=then)
