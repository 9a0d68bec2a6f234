"""Timeline: when the GPU did what, on which stream, in virtual time; for the report and for Perfetto."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

KERNEL, COPY, FILL = "kernel", "copy", "fill"
KINDS = (KERNEL, COPY, FILL)
DEFAULT_STREAM = 0


@dataclass(frozen=True, slots=True)
class Track:
    """Track: a stream of a process, on one of its GPUs."""

    process: int
    stream: int
    device: int = 0

    @property
    def title(self) -> str:
        name = "default stream" if self.stream == DEFAULT_STREAM else f"stream {self.stream}"
        return f"{name} of GPU {self.device}" if self.device else name

    @property
    def number(self) -> int:
        """Of all streams of the process; those of GPUs have different ones, but for the default streams."""
        return self.stream or self.device << 16


@dataclass(frozen=True, slots=True)
class Work:
    """Work: a kernel by its name, or a copy by its direction, or a fill."""

    kind: str
    name: str


@dataclass
class Timeline:
    """Timeline: work in the order in which it was queued, as columns: a program may launch millions of kernels.

    track, work        places in `tracks` and `works`
    start, duration    nanoseconds of virtual time
    size               bytes of a copy or fill
    """

    tracks: list[Track] = field(default_factory=list)
    works: list[Work] = field(default_factory=list)
    track: array[int] = field(default_factory=lambda: array("i"))
    work: array[int] = field(default_factory=lambda: array("i"))
    start: array[int] = field(default_factory=lambda: array("q"))
    duration: array[int] = field(default_factory=lambda: array("q"))
    size: array[int] = field(default_factory=lambda: array("q"))
    _numbers: dict[Track | Work, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start)

    def number_of_track(self, track: Track) -> int:
        """Its place in `tracks`."""
        if track not in self._numbers:
            self._numbers[track] = len(self.tracks)
            self.tracks.append(track)
        return self._numbers[track]

    def number_of_work(self, work: Work) -> int:
        """Its place in `works`."""
        if work not in self._numbers:
            self._numbers[work] = len(self.works)
            self.works.append(work)
        return self._numbers[work]

    def add(self, track: int, work: int, start: int, duration: int, size: int = 0) -> None:
        """By numbers: a program may launch often."""
        self.track.append(track)
        self.work.append(work)
        self.start.append(start)
        self.duration.append(duration)
        self.size.append(size)

    @property
    def begin(self) -> int:
        return min(self.start, default=0)

    @property
    def end(self) -> int:
        starts, durations = np.asarray(self.start), np.asarray(self.duration)
        return int((starts + durations).max()) if len(self) else 0

    def busy(self) -> int:
        """Nanoseconds in which the GPU does anything."""
        return _covered(*self._intervals(np.ones(len(self), bool)))

    def busy_on(self, track: int) -> int:
        return _covered(*self._intervals(np.asarray(self.track) == track))

    def _intervals(self, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        starts, durations = np.asarray(self.start)[chosen], np.asarray(self.duration)[chosen]
        return starts, starts + durations

    def spans(self, wanted: Callable[[Work], bool]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows of begin and end of the work that is wanted, and its bytes."""
        works = np.array([wanted(work) for work in self.works], bool)
        chosen = works[np.asarray(self.work, np.intp)] if len(self) else np.zeros(0, bool)
        return np.stack(self._intervals(chosen), axis=1), np.asarray(self.size, np.int64)[chosen]

    def buckets(self, track: int, count: int) -> NDArray[np.float64]:
        """Of each kind (KINDS) the nanoseconds in each of `count` equal parts of the whole time."""
        kinds = np.asarray([KINDS.index(work.kind) for work in self.works])
        here = np.asarray(self.track) == track
        starts, ends = self._intervals(here)
        kind = kinds[np.asarray(self.work)[here]]
        width = max(self.end - self.begin, 1) / count
        edges: NDArray[Any] = self.begin + width * np.arange(count + 1)
        found = np.zeros((len(KINDS), count))
        for number in range(len(KINDS)):
            # Work of one kind that is done by a time, at each edge: its growth from edge to edge is what lies between.
            mine = kind == number
            done = _done_by(edges, starts[mine], ends[mine])
            found[number] = np.diff(done)
        return found


def _done_by(times: NDArray[Any], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[Any]:
    """Nanoseconds of these intervals before each time: an interval adds (t - start)+ - (t - end)+."""

    def ramp(points: NDArray[np.int64]) -> NDArray[Any]:
        ordered = np.sort(points).astype(np.float64)
        before: NDArray[Any] = np.searchsorted(ordered, times)
        sums = np.concatenate([[0.0], np.cumsum(ordered - times[0])])
        grown: NDArray[Any] = before * (times - times[0]) - sums[before]
        return grown

    done: NDArray[Any] = ramp(starts) - ramp(ends)
    return done


def _covered(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
    """Length of the union of intervals."""
    if not starts.size:
        return 0
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    gaps = np.maximum(starts[1:] - ends[:-1], 0).sum()
    return int(ends[-1] - starts[0] - gaps)


def chrome_trace(timeline: Timeline, process_names: dict[int, str], purpose: str) -> Iterator[str]:
    """The timeline in the Trace Event Format, which Perfetto and chrome://tracing open; in parts, as it may be long.

    A process is a process, a stream a thread; times are microseconds from the first work on.
    """
    yield f'{{"displayTimeUnit":"ns","otherData":{{"about":{json.dumps(purpose)}}},"traceEvents":['
    lines = [
        {"ph": "M", "name": "process_name", "pid": process, "args": {"name": f"{name} (GPU)"}}
        for process, name in process_names.items()
    ]
    for track in timeline.tracks:
        place = {"ph": "M", "pid": track.process, "tid": track.number}
        lines.append({**place, "name": "thread_name", "args": {"name": track.title}})
        lines.append({**place, "name": "thread_sort_index", "args": {"sort_index": track.number}})
    yield ",\n".join(json.dumps(line) for line in lines)
    begin = timeline.begin
    columns = (timeline.track, timeline.work, timeline.start, timeline.duration, timeline.size)
    for number, work, start, duration, size in zip(*columns, strict=True):
        track, done = timeline.tracks[number], timeline.works[work]
        event: dict[str, object] = {
            "ph": "X", "pid": track.process, "tid": track.number, "name": done.name, "cat": done.kind,
            "ts": (start - begin) / 1000, "dur": duration / 1000,
        }  # fmt: skip
        if size:
            event["args"] = {"bytes": size}
        yield ",\n" + json.dumps(event)
    yield "]}\n"
