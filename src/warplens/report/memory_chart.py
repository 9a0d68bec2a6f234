"""Memory chart: what moves between kernel, caches and DRAM, in the layout of Nsight Compute's chart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warplens.core.metric import Provenance
from warplens.model.result.prediction import Unit
from warplens.report import tables
from warplens.report.launch_view import LaunchView
from warplens.report.prediction_view import digits, in_bytes

SECTOR = 32  # bytes
LOADS, STORES = ("Load", "Load Matrix"), ("Store", "Store Matrix", "Reduction")
HIT_RATES = {"l1": "l1tex__t_sector_hit_rate.pct", "l2": "lts__t_sector_hit_rate.pct"}


@dataclass(frozen=True, slots=True)
class Link:
    """What moves one way between two places of the chart.

    text      amount with its unit;  amount: None where it is not known
    percent   share of the peak of the unit that moves it, None where no peak is known
    """

    start: str
    end: str
    text: str
    amount: float | None
    provenance: Provenance
    percent: float | None = None


@dataclass(frozen=True, slots=True)
class MemoryChart:
    """links: in the order of the way from the kernel to DRAM;  hits: percent by "l1" and "l2", where predicted."""

    links: tuple[Link, ...]
    hits: dict[str, float]

    def between(self, start: str, end: str) -> Link | None:
        return next((link for link in self.links if (link.start, link.end) == (start, end)), None)

    @property
    def predicted(self) -> bool:
        """Whether the part behind L1 is known."""
        return any(link.end == "dram" for link in self.links)


def memory_chart(subject: LaunchView) -> MemoryChart:
    """Requests and sectors are counted; what moves between L1, L2 and DRAM is there if the time is predicted."""
    metrics = subject.all_metrics
    hits = {place: metrics[name].value for place, name in HIT_RATES.items() if name in metrics}
    return MemoryChart((*_counted(subject), *_predicted(subject)), hits)


def _counted(subject: LaunchView) -> Iterator[Link]:
    """Kernel to memory space in requests; memory space to its store in bytes of sectors, or wavefronts."""
    unit = next((u for u in _units(subject) if u.name == "load/store unit"), None)
    for space, title in (("global", "Global"), ("local", "Local"), ("shared", "Shared")):
        rows = [row for row in (*tables.sectors(subject), *tables.wavefronts(subject)) if row.name.startswith(title)]
        for reads in (True, False):
            ways = [row for row in rows if _reads(row.name) is reads or _reads(row.name) is None]
            if not ways:
                continue
            requests, moved = sum(row.requests for row in ways), sum(row.units for row in ways)
            ends = ("kernel", space) if not reads else (space, "kernel")
            yield Link(*ends, f"{requests:,} requests", requests, subject.provenance)
            if space == "shared":
                store, text = "smem", f"{moved:,} wavefronts"
            else:
                store, text = "l1", in_bytes(SECTOR * moved)
            ends = (space, store) if not reads else (store, space)
            yield Link(*ends, text, moved, subject.memory_provenance, unit.percent if unit else None)


def _reads(row: str) -> bool | None:
    """Whether this kind of access brings data to the kernel; None: both ways."""
    action = row.split(" ", 1)[1]
    return True if action in LOADS else False if action in STORES else None


def _predicted(subject: LaunchView) -> Iterator[Link]:
    """L1 to L2 as a rate, L2 to DRAM as bytes."""
    units = {unit.name: unit for unit in _units(subject)}
    if subject.prediction is None:
        return
    for name, ends in (("L2 reads", ("l2", "l1")), ("L2 writes", ("l1", "l2"))):
        if unit := units.get(name):
            text = f"{digits(unit.achieved)} of {digits(unit.peak)} {unit.unit}"
            yield Link(*ends, text, unit.achieved, "modelled", unit.percent)
    dram = units.get("DRAM")
    for end, ends in (("read", ("dram", "l2")), ("write", ("l2", "dram"))):
        metric = subject.all_metrics.get(f"dram__bytes_{end}.sum") or subject.all_metrics.get(
            f"dram__bytes_op_{end}.sum"
        )
        if metric:
            percent = dram.percent if dram else 0.0
            yield Link(*ends, in_bytes(metric.value), metric.value, metric.provenance, percent if metric.value else 0.0)


def _units(subject: LaunchView) -> tuple[Unit, ...]:
    return subject.prediction.units if subject.prediction else ()
