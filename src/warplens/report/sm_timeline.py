"""SM timeline: the warps of one SM as a page draws it, and in the Trace Event Format for Perfetto."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from warplens.core.program import Program
from warplens.model.layout import REASONS
from warplens.model.result.warp_timeline import WarpTimeline

SELECTED = REASONS.index("selected")


def page_data(timeline: WarpTimeline, program: Program) -> str:
    """JSON without "<": warps, reasons, and of each warp start, duration, reason and instruction of each segment."""
    lanes: list[list[int | float]] = [[] for _ in timeline.warps]
    for warp, reason, instruction, start, duration in _segments(timeline):
        lanes[warp] += [_short(start), _short(duration), reason, instruction]
    used = {int(index) for index in timeline.instruction}
    data = {
        "megahertz": timeline.megahertz,
        "cycles": _short(timeline.cycles),
        "reasons": REASONS,
        "warps": timeline.warps,
        "lanes": lanes,
        "code": {index: program.instructions[index].opcode for index in sorted(used)},
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def chrome_trace(timeline: WarpTimeline, program: Program, title: str) -> Iterator[str]:
    """In parts, as it may be long.  A process is the SM, a thread a warp, times are those of the model."""
    about = json.dumps(f"{title}: one SM, modelled by warplens")
    yield f'{{"displayTimeUnit":"ns","otherData":{{"about":{about}}},"traceEvents":['
    lines: list[dict[str, Any]] = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": f"{title} (one SM)"}}]
    for number, (block, warp) in enumerate(timeline.warps):
        name = {"name": f"block {block}, warp {warp}"}
        lines.append({"ph": "M", "pid": 0, "tid": number, "name": "thread_name", "args": name})
        lines.append({"ph": "M", "pid": 0, "tid": number, "name": "thread_sort_index", "args": {"sort_index": number}})
    yield ",\n".join(json.dumps(line) for line in lines)
    for warp, reason, index, start, duration in _segments(timeline):
        instruction = program.instructions[index]
        event = {
            "ph": "X", "pid": 0, "tid": warp, "cat": REASONS[reason],
            "name": instruction.opcode if reason == SELECTED else REASONS[reason],
            "ts": start / timeline.megahertz, "dur": duration / timeline.megahertz,
            "args": {"instruction": f"{instruction.offset:04x} {instruction.opcode} {instruction.text}".rstrip()},
        }  # fmt: skip
        if instruction.source:
            event["args"]["line"] = instruction.source.line  # type: ignore[index]
        yield ",\n" + json.dumps(event)
    yield "]}\n"


def _segments(timeline: WarpTimeline) -> Iterator[tuple[int, int, int, float, float]]:
    """(warp, reason, instruction, start, duration), with those that follow each other alike as one."""
    columns = (timeline.warp, timeline.reason, timeline.instruction, timeline.start, timeline.end)
    held: tuple[int, int, int] | None = None
    begin = last = 0.0
    for warp, reason, instruction, start, end in zip(*(column.tolist() for column in columns), strict=True):
        if held == (warp, reason, instruction) and start == last and reason != SELECTED:
            last = end
            continue
        if held:
            yield (*held, begin, last - begin)
        held, begin, last = (warp, reason, instruction), start, end
    if held:
        yield (*held, begin, last - begin)


def _short(value: float) -> int | float:
    """To a tenth of a cycle."""
    rounded = round(value, 1)
    return int(rounded) if rounded == int(rounded) else rounded
