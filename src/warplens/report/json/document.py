"""JSON document: one launch for other programs, as schema.json in this folder describes it.

The same run gives the same bytes: keys have a fixed order, names are sorted, whole numbers are integers,
and nothing in it depends on the clock or on the machine that made it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from warplens.control_characters import escaped
from warplens.core.cubin import SourceLine
from warplens.core.hazard import Hazard
from warplens.core.launch import Dim3, Launch
from warplens.core.metric import Metric
from warplens.core.program import Instruction, Program
from warplens.counters.metric_collection import by_instruction, by_line
from warplens.counters.occupancy import Occupancy
from warplens.counters.opcodes import access
from warplens.errors import WarplensError
from warplens.model import LeastTime
from warplens.model.result.prediction import Prediction
from warplens.report.finding_text import format_finding
from warplens.report.findings.finding_view import FindingView
from warplens.report.launch_view import LaunchView
from warplens.rules import Finding, findings

VERSION = 2
"""Goes up when a key changes its meaning or goes away; a new key leaves it.  2: `error` in the place of results."""

Metrics = Mapping[str, Metric]
Document = dict[str, Any]


def document(view: LaunchView, chosen: Metrics | None = None) -> Document:
    """The whole document; lines and instructions carry only their metrics that are not 0.

    chosen   the metrics of the launch to write; None for all that it has
    """
    program = view.program
    lines = by_line(program, view.trace)
    return {
        "version": VERSION,
        "kernel": view.kernel.name,
        "arch": view.kernel.arch,
        "gpu": view.machine.key,
        "gpu_from": view.machine_from or None,
        "tools": dict(sorted(view.tools.items())),
        "launch": launch_part(view.launch, view.kernel.cluster),
        "printed": view.trace.printed,
        "notes": list(view.notes),
        "metrics": shown(view.all_metrics if chosen is None else chosen),
        "occupancy": occupancy_part(view.occupancy, view.waves),
        "lines": [line_part(place, lines[place]) for place in sorted(lines, key=position)],
        "instructions": [
            instruction_part(instruction, values)
            for instruction, values in zip(program.instructions, by_instruction(program, view.trace), strict=True)
        ],
        "floor": view.floor and floor_part(view.floor),
        "prediction": view.prediction and prediction_part(view.prediction, program),
        "unpredicted": view.unpredicted or None,
        "what_if": what_if_part(view.what_if),
        "findings": findings_part(view),
        "checks": ["memory", *view.checks],
        "hazards": [hazard_part(hazard) for hazard in view.trace.hazards],
    }


def error_document(
    error: WarplensError, kernel: str | None = None, arch: str | None = None, gpu: str | None = None
) -> Document:
    """The document where there is no result; `kernel` as the user names it, where it is known."""
    return {
        "version": VERSION,
        "kernel": kernel,
        "arch": arch,
        "gpu": gpu,
        "printed": getattr(error, "printed", ""),
        "error": {"type": type(error).__name__, "message": str(error), "exit_code": error.exit_code},
    }


def findings_part(view: LaunchView) -> list[Document]:
    """The heaviest first; with what to write instead where the run was advised."""
    advice = {one.fault: advice_part(one) for one in view.advice}
    return [finding_part(found, view) | advice.get(found.fault, {}) for found in findings(view)]


def advice_part(advice: FindingView) -> Document:
    """`gain` is the upper bound of the time saved, as a share; None where it is not known."""
    return {
        "gain": None if advice.gain is None else number(advice.gain),
        "worth_it": advice.worth_it,
        "expression": advice.expression,
        "instead": advice.instead,
        "rung": advice.rung or None,
        "nsight_compute": advice.nsight,
    }


def finding_part(found: Finding, view: LaunchView) -> Document:
    """A fault in words; `weight` is its share of the launch's work, by which findings are ranked."""
    line = found.line
    return {
        "fault": found.fault,
        "text": format_finding(found, view),
        "weight": number(found.weight),
        "line": line and {"file": line.file, "line": line.line},
    }


def what_if_part(what_if: Mapping[str, Prediction]) -> list[Document]:
    """The time with each cause removed, in the order in which they were asked for."""
    return [{"name": name, "time_us": number(then.time_us), "limit": then.limit} for name, then in what_if.items()]


def floor_part(floor: LeastTime) -> Document:
    """The least time and what each unit must spend."""
    return {
        "microseconds": number(floor.microseconds),
        "provenance": floor.provenance,
        "limit": floor.limit and floor.limit.name,
        "bounds": [
            {"name": b.name, "microseconds": number(b.microseconds), "says": b.says, "assumes": b.assumes}
            for b in floor.bounds
        ],
    }


def prediction_part(prediction: Prediction, program: Program) -> Document:
    """The time and what it is made of; stalls by instruction in the order of the code, only where there are any."""
    done = prediction.simulated
    return {
        "gpu": prediction.gpu,
        "provenance": "modelled",
        "calibrated": prediction.calibrated or None,
        "time_us": number(prediction.time_us),
        "low_us": number(prediction.low_us),
        "high_us": number(prediction.high_us),
        "duration_us": number(prediction.duration_us),
        "duration_low_us": number(prediction.duration_low_us),
        "duration_high_us": number(prediction.duration_high_us),
        "coverage_measured": prediction.coverage_measured,
        "assumptions": [
            {"name": a.name, "value": number(a.value), "unit": a.unit, "source": a.source}
            for a in prediction.assumptions
        ],
        "limit": prediction.limit,
        "units": [
            {
                "name": unit.name, "achieved": number(unit.achieved), "peak": number(unit.peak), "unit": unit.unit,
                "percent": number(unit.percent),
            }
            for unit in prediction.units
        ],
        "metrics": shown(prediction.metrics),
        "stalls": numbers(prediction.stalls),
        "instructions": [
            {"offset": program.instructions[index].offset, "stalls": numbers(reasons)}
            for index, reasons in sorted(prediction.stalls_at.items()) if any(reasons.values())
        ],
        "simulated": {
            "blocks": done.blocks, "of_blocks": done.of_blocks, "instructions": done.instructions, "why": done.why,
        },
    }  # fmt: skip


def numbers(named: Mapping[str, float]) -> Document:
    return {name: number(value) for name, value in sorted(named.items())}


def launch_part(launch: Launch, cluster: Dim3) -> Document:
    return {
        "grid": list(launch.grid),
        "block": list(launch.block),
        "shared": launch.shared,
        "cooperative": launch.cooperative,
        "cluster": list(cluster),
    }


def text(content: Document | Sequence[Document], compact: bool = False) -> str:
    """The document, or the list of several, as it is written to a file or to standard output."""
    return escaped(json.dumps(content, indent=None if compact else 1, ensure_ascii=False, allow_nan=False)) + "\n"


def schema() -> Document:
    """The JSON schema of the document."""
    loaded: Document = json.loads(files("warplens.report.json").joinpath("schema.json").read_text("utf-8"))
    return loaded


def number(value: float | int) -> float | int | None:
    """A whole float as an integer; None for what JSON has no word for."""
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def shown(metrics: Metrics) -> Document:
    return {name: metric_part(metric) for name, metric in sorted(metrics.items())}


def metric_part(metric: Metric) -> Document:
    part: Document = {"value": number(metric.value), "unit": metric.unit, "provenance": metric.provenance}
    if metric.instances:
        part["instances"] = {name: number(value) for name, value in metric.instances}
    return part


def seen(metrics: Metrics) -> Document:
    """The metrics that are not 0, as numbers: a listing has thousands."""
    return {name: number(metric.value) for name, metric in sorted(metrics.items()) if metric.value}


def position(place: SourceLine) -> tuple[str, int]:
    return place.file, place.line


def line_part(place: SourceLine, metrics: Metrics) -> Document:
    return {"file": place.file, "line": place.line, "metrics": seen(metrics)}


def instruction_part(instruction: Instruction, metrics: Metrics) -> Document:
    source = instruction.source
    return {
        "offset": instruction.offset,
        "guard": guard(instruction),
        "opcode": instruction.opcode,
        "operands": instruction.text,
        "source": source and {"file": source.file, "line": source.line},
        "memory": memory_part(instruction),
        "metrics": seen(metrics),
    }


def memory_part(instruction: Instruction) -> Document | None:
    """Nsight's source columns of a memory instruction; None for others."""
    found = access(instruction)
    if found is None:
        return None
    return {
        "memory_type": found.space.capitalize(),
        "memory_access_type": found.action.capitalize(),
        "memory_access_size_type": found.bits,
    }


def hazard_part(hazard: Hazard) -> Document:
    """What a check found; each party with its place."""
    return {
        "check": hazard.check,
        "severity": hazard.severity,
        "message": hazard.message,
        "block": list(hazard.block),
        "times": hazard.times,
        "parties": [
            {
                "act": party.act,
                "thread": list(party.thread),
                "offset": party.at.offset,
                "source": party.at.source and {"file": party.at.source.file, "line": party.at.source.line},
            }
            for party in hazard.parties
        ],
    }


def guard(instruction: Instruction) -> str | None:
    """The predicate as nvdisasm prints it: "@!P0"."""
    if instruction.guard is None:
        return None
    predicate = instruction.guard
    index = "T" if predicate.index < 0 else str(predicate.index)
    return f"@{'!' if predicate.invert else ''}{predicate.file}{index}"


def occupancy_part(occupancy: Occupancy, waves: float) -> Document:
    return {
        "blocks": occupancy.blocks,
        "warps": occupancy.warps,
        "percent": number(occupancy.percent),
        "limits": dict(sorted(occupancy.limits.items())),
        "waves": number(waves),
    }
