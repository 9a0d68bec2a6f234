"""Launch brief: what matters of a launch, in at most 15 sentences or 2 KB, for a language model's context."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from warplens.report import tables
from warplens.report.headline import first_error, headline, no_finding
from warplens.report.launch_view import LaunchView, blocks_of
from warplens.report.prediction_view import interval, spoken, what_ifs
from warplens.report.wording import decimal, percent

FINDINGS = 3  # that are named; the others are lighter
SENTENCES = 15
MOST_BYTES = 2000  # of a document, with a margin for what characters are escaped


def sentences(view: LaunchView) -> list[str]:
    """At most 15: what is wrong, time, limit, counts, and what to write instead."""
    lines = [f"{view.title}: {no_finding(view)}." if view.advice else f"{headline(view)}."]
    lines += _time_sentences(view)
    lanes = f"{decimal(view.lanes)} of 32 threads predicated on"
    lines.append(
        f"{blocks_of(view.launch)}, {view.kernel.registers} registers per thread, theoretical occupancy "
        f"{decimal(view.occupancy.percent)} %; {int(view['smsp__inst_executed.sum']):,} warp instructions, {lanes}."
    )
    lines += [
        f"{row.name}: {row.units:,} {unit}, {row.ideal:,} needed."
        for rows, unit in ((tables.sectors(view), "sectors"), (tables.wavefronts(view), "wavefronts"))
        for row in rows if row.excess
    ]  # fmt: skip
    for finding in view.advice[:FINDINGS]:
        lines += finding.sentences(view.machine.title)
    return lines[:SENTENCES]


def document(view: LaunchView) -> dict[str, Any]:
    """The same as dictionaries and lists, of at most 2 KB: findings that are too long are left out, the last first."""
    made = _document(view)
    while len(json.dumps(made, ensure_ascii=False).encode()) > MOST_BYTES and made["findings"]:
        made["findings"].pop()
    return made


def _document(view: LaunchView) -> dict[str, Any]:
    found = view.prediction
    return {
        "kernel": view.title,
        "gpu": view.machine.key,
        "error": first_error(view) or None,
        "time_us": found and round(found.time_us, 3),
        "interval_us": found and [round(found.low_us, 3), round(found.high_us, 3)],
        "limit": found.limit if found else None,
        "unpredicted": view.unpredicted or None,
        "what_if_us": {name: round(then.time_us, 3) for name, then in view.what_if.items()},
        "launch": f"{blocks_of(view.launch)}, {view.kernel.registers} registers per thread",
        "occupancy_percent": round(view.occupancy.percent, 1),
        "warp_instructions": int(view["smsp__inst_executed.sum"]),
        "predicated_on_threads": round(view.lanes, 2),
        "moved": {
            row.name: {"moved": row.units, "ideal": row.ideal}
            for rows in (tables.sectors(view), tables.wavefronts(view)) for row in rows
        },
        "findings": [finding.brief_part() for finding in view.advice[:FINDINGS]],
    }  # fmt: skip


def _time_sentences(view: LaunchView) -> Iterator[str]:
    found = view.prediction
    if found is None:
        if view.unpredicted:
            yield f"No prediction: {view.unpredicted}."
        return
    span = interval(found.low_us, found.high_us)
    kept = "90 % interval" if found.coverage_measured else "assumed interval"
    yield f"{spoken(found.time_us)} predicted on {view.machine.title}, {kept} {span}."
    yield _sentence(f"limit: {found.limit}")
    for row in what_ifs(view):
        yield _sentence(f"{row.cause}: {spoken(row.then_us)} ({percent(1 - row.then_us / row.now_us)} less)")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
