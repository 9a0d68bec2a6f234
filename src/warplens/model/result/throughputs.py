"""Throughputs: Nsight Compute's `.throughput` metrics, each the largest share of a peak among the counters of a unit.

Which counters a throughput has, and the peak of each, are Nsight Compute's own (`breakdown:` and `.peak_sustained`,
read on an H200).  Those below are modelled; where a throughput is above 0.5 % they have the largest counter in 400 of
the 422 cases of the calibration.
Evidence: measurements/h200/throughputs.csv.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warplens.core.metric import Metric
from warplens.machine.parameter import measured
from warplens.model.layout import PIPES
from warplens.model.result.l2_hit_rate import L2Lookups
from warplens.model.result.outcome import SimulationOutcome
from warplens.model.result.request import PredictionRequest

L2_CLOCK = measured(
    0.864,
    "L2 cycles per SM cycle",
    "measurements/h200/throughputs.csv: lts__cycles_elapsed.avg / sm__cycles_elapsed.avg, median",
)
SLICES = measured(94, "L2 slices", "measurements/h200/throughputs.csv: lts__t_tag_requests.sum.peak_sustained")
# Of a sector that crosses between the two halves of L2: 2.0 where it is stored, up to 3.2 where it is read.
FABRIC = measured(
    2.44,
    "cycles per sector",
    "measurements/h200/throughputs.csv: lts__ltcfabric2ltc_cycles_active.sum / sectors of srcunit_ltcfabric, median",
)
# Peaks, in what is counted per cycle of an SM or of an L2 slice.
ISSUES = measured(
    4,
    "instructions",
    "measurements/h200/throughputs.csv: sm__issue_active.sum.peak_sustained / SMs (of each sub-partition)",
)
LSU = measured(
    1, "instructions", "measurements/h200/throughputs.csv: sm__inst_executed_pipe_lsu.sum.peak_sustained / SMs"
)
ADU = measured(
    0.5, "instructions", "measurements/h200/throughputs.csv: sm__inst_executed_pipe_adu.sum.peak_sustained / SMs"
)
WAVEFRONTS = measured(
    1, "wavefronts", "measurements/h200/throughputs.csv: l1tex__data_pipe_lsu_wavefronts.sum.peak_sustained / SMs"
)
REQUESTS = measured(
    1, "cycles", "measurements/h200/throughputs.csv: l1tex__m_l1tex2xbar_req_cycles_active.sum.peak_sustained / SMs"
)
REPLIES = measured(
    4, "sectors", "measurements/h200/throughputs.csv: l1tex__m_xbar2l1tex_read_sectors.sum.peak_sustained / SMs"
)
L2_SECTORS = measured(3, "sectors", "measurements/h200/throughputs.csv: lts__t_sectors.sum.peak_sustained / slices")
L2_REPLIES = measured(
    2, "sectors", "measurements/h200/throughputs.csv: lts__lts2xbar_cycles_active.sum.peak_sustained / slices"
)


@dataclass(frozen=True)
class Elapsed:
    """Cycles of the duration, of all SMs and of all L2 slices together."""

    sms: float
    slices: float


def throughputs(
    request: PredictionRequest, out: SimulationOutcome, found: L2Lookups, cycles: float, rates: Mapping[str, Metric]
) -> dict[str, Metric]:
    """cycles: elapsed, of an SM;  found: lookups of L2;  rates: of pipes and DRAM, by name"""
    elapsed = Elapsed(cycles * request.machine.multiprocessors, cycles * L2_CLOCK * SLICES)
    of_all = request.executed / out.issued
    dram = rates["dram__throughput.avg.pct_of_peak_sustained_elapsed"].value
    l1, l2 = _l1(out, of_all, elapsed), _l2(out, of_all, found, elapsed)
    values = {
        "sm__throughput": max(_sm(request, out, of_all, rates, elapsed).values()),
        "l1tex__throughput": max(l1.values()),
        "lts__throughput": max(l2.values()),
        # Neither requests that leave L1 nor what crosses between the halves of L2 is part of this one.
        "gpu__compute_memory_throughput": max(
            dram, l1["data"], *(percent for part, percent in l2.items() if part != "fabric")
        ),
    }
    return {f"{n}.avg.pct_of_peak_sustained_elapsed": Metric(v, "%", "modelled") for n, v in values.items()}


def _sm(
    request: PredictionRequest, out: SimulationOutcome, of_all: float, rates: Mapping[str, Metric], elapsed: Elapsed
) -> dict[str, float]:
    parts = request.machine.limits.sub_partitions
    busy = {
        pipe: 100 * float(taken) * of_all / parts / elapsed.sms
        for pipe, taken in zip(PIPES, out.busy, strict=True)
        if pipe not in ("none", "lsu", "adu")
    }
    return busy | {
        "issue": 100 * request.executed / ISSUES / elapsed.sms,
        "lsu": 100 * rates["sm__inst_executed_pipe_lsu.sum"].value / LSU / elapsed.sms,
        "adu": 100 * rates["smsp__inst_executed_pipe_adu.sum"].value / ADU / elapsed.sms,
    }


def _l1(out: SimulationOutcome, of_all: float, elapsed: Elapsed) -> dict[str, float]:
    counts = out.counts
    return {
        "data": 100 * counts.wavefronts * of_all / WAVEFRONTS / elapsed.sms,
        "requests": 100 * _request_cycles(out) * of_all / REQUESTS / elapsed.sms,
        "replies": 100 * counts.l2_reads * of_all / REPLIES / elapsed.sms,
    }


def _l2(out: SimulationOutcome, of_all: float, found: L2Lookups, elapsed: Elapsed) -> dict[str, float]:
    counts = out.counts
    sectors = counts.l2_reads + counts.l2_writes + counts.l2_updates
    lines = counts.l2_read_lines + counts.l2_changed_lines
    crossing = max(found.all - sectors * of_all, 0.0)
    return {
        "sectors": 100 * found.all / L2_SECTORS / elapsed.slices,
        "tags": 100 * found.all * lines / max(sectors, 1.0) / elapsed.slices,
        "requests": 100 * _request_cycles(out) * of_all / elapsed.slices,
        "replies": 100 * counts.l2_reads * of_all / L2_REPLIES / elapsed.slices,
        "fabric": 100 * FABRIC * crossing / elapsed.slices,
    }


def _request_cycles(out: SimulationOutcome) -> float:
    """Cycles of an SM's requests to L2: one for a line that is read, one for a packet that is sent."""
    return out.counts.l2_read_lines + out.counts.l2_sent + out.counts.l2_atomic_packets
