"""L2 history: what L2 holds as a program's launches, copies and fills follow each other, and the time of each then."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.machine import Machine
from warplens.model.grid.l2_contents import L2Contents, L2Sizes, L2Start, RangeUse, StreamPlaces
from warplens.program.timing.predicted_launch import LaunchTime, TimedLaunch

MOST_STEPS = 1 << 14  # that are known; then all are forgotten
TO_DEVICE, WITHIN, FILL = 1, 3, 5  # kinds of copies (shim/copy.c)


class L2History:
    """L2 history: `state` is the number of the contents, the same for equal ones."""

    def __init__(self, machine: Machine) -> None:
        self.sizes = L2Sizes.of(machine)
        self._places = StreamPlaces.of(machine)
        self.contents, self.state = L2Contents(), 0
        self._last_state = 0
        self._states: dict[L2Contents, int] = {}
        self._steps: dict[tuple[int, tuple[RangeUse, ...]], tuple[L2Start, L2Contents, int]] = {}

    def launch(self, timed: TimedLaunch) -> LaunchTime:
        """The time of a launch that begins now."""
        return timed.time(self.use(timed.uses), self.sizes)

    def copy(self, kind: int, source: int, target: int, size: int) -> None:
        """A copy or fill.  L2 keeps what it stores; DRAM has been given what comes from the host.  A copy to the
        host leaves L2 as it is.

        source   of a copy within the GPU
        """
        if kind in (TO_DEVICE, WITHIN, FILL):
            stored = RangeUse(
                target, target + size, 0, size, round(size * self._places.stored), size if kind != TO_DEVICE else 0
            )
            read = RangeUse(source, source + size, size, 0, round(size * self._places.read), 0)
            self.use((read, stored) if kind == WITHIN else (stored,))

    def use(self, uses: Sequence[RangeUse]) -> L2Start:
        """What a launch, copy or fill finds that begins now."""
        step = self.state, tuple(uses)
        found = self._steps.get(step)
        if found is None:
            start, after = self.contents.launch(uses, self.sizes)
            if len(self._steps) >= MOST_STEPS:
                self._steps.clear()
                self._states.clear()
            found = self._steps[step] = start, after, self._number(after)
        start, self.contents, self.state = found
        return start

    def _number(self, contents: L2Contents) -> int:
        number = self._states.get(contents)
        if number is None:
            self._last_state += 1
            number = self._states[contents] = self._last_state
        return number
