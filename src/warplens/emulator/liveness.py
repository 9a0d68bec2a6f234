"""Which registers a warp that stops must keep: those that some place where it may go on still reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

Name = tuple[str, int]


class Liveness:
    """Reads and overwrites of each block, noted while it is translated; then the usual backward analysis."""

    def __init__(self) -> None:
        self.block = 0
        self.used: dict[int, set[Name]] = defaultdict(set)
        self.defined: dict[int, set[Name]] = defaultdict(set)

    def begin(self, block: int) -> None:
        self.block = block

    def reads(self, name: Name) -> None:
        if name not in self.defined[self.block]:
            self.used[self.block].add(name)

    def overwrites(self, name: Name) -> None:
        """In all lanes of the split; lanes elsewhere have places of their own where they go on."""
        self.defined[self.block].add(name)

    def live_at(self, entries: Iterable[int], successors: Mapping[int, Iterable[int]]) -> set[Name]:
        """Registers read before they are overwritten from one of these blocks on."""
        live = {block: set(self.used[block]) for block in successors}
        changed = True
        while changed:
            changed = False
            for block in reversed(list(successors)):
                after = set().union(*(live[s] for s in successors[block] if s in live))
                grown = live[block] | (after - self.defined[block])
                if grown != live[block]:
                    live[block], changed = grown, True
        return set().union(*(live[e] for e in entries if e in live))
