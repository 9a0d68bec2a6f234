"""Launch selection: which launches of a program are counted, by the rules of Nsight Compute.

All are executed; those that are not selected are executed without counters, and take the time of a counted one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

from warplens.core.kernel_name import base_name, expression_of, found_in
from warplens.core.launch import Launch
from warplens.errors import UsageError

FIRST, ALL = "first", "all"
EVERY = "every:"


@dataclass(frozen=True)
class LaunchSelection:
    """Launch selection: of the launches whose kernel matches, after `skip` of them, `count` at most.

    every        1: each of them;  n: the first, and each n-th after it;  0: the first of each kernel and launch
                 configuration
    kernel_name  a name, with or without namespaces and template arguments, or regex:EXPR;  "": any
    """

    every: int = 0
    kernel_name: str = ""
    skip: int = 0
    count: int | None = None

    @classmethod
    def of(cls, launches: str = FIRST, kernel_name: str = "", skip: int = 0, count: int | None = None) -> Self:
        """From the words of the command line; launches: first, all, every:N.  UsageError for others."""
        expression_of(kernel_name, "--kernel-name")
        number = launches.removeprefix(EVERY)
        if launches in (FIRST, ALL):
            every = int(launches == ALL)
        elif number != launches and number.isdecimal() and int(number):
            every = int(number)
        else:
            raise UsageError(f"--launches {launches}: possible: first, all, every:N")
        return cls(every, kernel_name, skip, count)


class LaunchSelector:
    """Launch selector: applies a selection to the launches of a program, in their order; `selected`: how many."""

    def __init__(self, selection: LaunchSelection) -> None:
        self.selection, self.selected = selection, 0
        self._expression = expression_of(selection.kernel_name, "--kernel-name")
        self._matching: dict[str, bool] = {}
        self._passed = 0  # launches that match
        self._seen: Counter[tuple[str, Launch]] = Counter()

    @property
    def all(self) -> bool:
        """Whether all launches are counted."""
        return self.selection == LaunchSelection(every=1)

    def selects(self, kernel: str, launch: Launch) -> bool:
        """Whether the next launch is counted, if it is this one."""
        if not self._in_range or not self._matches(kernel):
            return False
        every = self.selection.every
        return (self._passed - self.selection.skip) % every == 0 if every else not self._seen[kernel, launch]

    def select(self, kernel: str, launch: Launch) -> bool:
        """The same, for the launch that has been made."""
        chosen = self.selects(kernel, launch)
        if self._matches(kernel):
            self._seen[kernel, launch] += self._in_range
            self._passed += 1
            self.selected += chosen
        return chosen

    @property
    def _in_range(self) -> bool:
        return self._passed >= self.selection.skip and self.selected != self.selection.count

    def may_select(self, kernel: str, launch: Launch) -> bool:
        """Whether one of the next launches of this kernel and configuration can be counted."""
        if not self._matches(kernel) or self.selected == self.selection.count:
            return False
        return bool(self.selection.every) or not self._seen[kernel, launch]

    def _matches(self, kernel: str) -> bool:
        found = self._matching.get(kernel)
        if found is None:
            wanted = self.selection.kernel_name
            if self._expression:
                found = found_in(self._expression, kernel)
            else:
                found = wanted in ("", kernel, base_name(kernel))
            self._matching[kernel] = found
        return found
