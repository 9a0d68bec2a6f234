"""Timeline chart: the streams of a GPU over time, a row a stream, in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from warplens.report.prediction_view import spoken
from warplens.report.terminal.console_layout import titled
from warplens.report.timeline import KINDS, Timeline
from warplens.report.wording import percent

LETTERS = ("█", "▒", "░")  # by kind
IDLE = "·"
MOST_ROWS = 12
SMALLEST = 20  # columns of time


def show(timeline: Timeline, process_names: dict[int, str], out: Console) -> None:
    """Nothing where the GPU did nothing.  A column shows the work that takes most of its time."""
    span = timeline.end - timeline.begin
    if not span:
        return
    tracks = sorted(range(len(timeline.tracks)), key=lambda n: -timeline.busy_on(n))[:MOST_ROWS]
    tracks.sort(key=lambda n: (timeline.tracks[n].process, timeline.tracks[n].number))
    several = len({timeline.tracks[n].process for n in tracks}) > 1
    titles = [_title(timeline, n, process_names if several else {}) for n in tracks]
    shares = [percent(timeline.busy_on(n) / span) for n in tracks]
    left, right = max(map(len, titles)), max(map(len, (*shares, "Busy")))
    columns = max(out.width - left - right - 4, SMALLEST)
    rows = [
        f"{title:{left}}  {_row(timeline, n, columns)}  {share:>{right}}"
        for n, title, share in zip(tracks, titles, shares, strict=True)
    ]
    end = spoken(span / 1000)
    ruler = f"{'':{left}}  0{end:>{columns - 1}}  {'Busy':>{right}}"
    shown = sorted({KINDS.index(work.kind) for work in timeline.works})
    legend = "  ".join(f"{LETTERS[kind]} {KINDS[kind]}" for kind in shown)
    more = len(timeline.tracks) - len(tracks)
    rest = f"; {more} more stream{'s' * (more > 1)}: --trace F writes all" if more else ""
    busy = f"{spoken(timeline.busy() / 1000)} of {end} busy ({percent(timeline.busy() / span)})"
    body = Text("\n".join([f"{legend}  {IDLE} idle; {busy}{rest}", ruler, *rows]), no_wrap=True, overflow="ellipsis")
    out.print(titled("Timeline of the GPU", "modelled", body))


def _title(timeline: Timeline, number: int, process_names: dict[int, str]) -> str:
    track = timeline.tracks[number]
    name = process_names.get(track.process)
    return f"{name} {track.process}, {track.title}" if name else track.title


def _row(timeline: Timeline, number: int, columns: int) -> str:
    buckets = timeline.buckets(number, columns)
    most, some = buckets.argmax(axis=0), buckets.max(axis=0) >= 0.5  # nanoseconds
    return "".join(LETTERS[kind] if busy else IDLE for kind, busy in zip(most, some, strict=True))
