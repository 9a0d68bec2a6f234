"""Change: edits of a source text and of a launch, proposed by a transform."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from warplens.transform.syntax.kernel_source import KernelSource, LaunchFacts

# What happens to results: every bit is kept; floats are rounded differently; sums are added in another order.
Effect: TypeAlias = Literal["exact", "rounding", "order"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the bytes from `start` to `end` of the source by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class LaunchChange:
    """What becomes of the launch.

    block    threads of a block, x y z; None: as before
    grid_over   by what each size of the grid is divided, rounded up
    grid     blocks, instead of dividing; None: by grid_over
    grid_times   by what the size of the grid in x is multiplied
    exchanged    1 or 2 where `grid` and `block` are those with x exchanged for y or z
    """

    block: tuple[int, int, int] | None = None
    grid_over: tuple[int, int, int] = (1, 1, 1)
    grid: tuple[int, int, int] | None = None
    grid_times: int = 1
    exchanged: int = 0

    def grid_of(self, grid: tuple[int, int, int]) -> tuple[int, int, int]:
        """What becomes of a grid."""
        if self.grid is not None:
            return self.grid
        x, y, z = (-(-size // over) for size, over in zip(grid, self.grid_over, strict=True))
        return x * self.grid_times, y, z


SAME_LAUNCH = LaunchChange()


@dataclass(frozen=True, slots=True)
class Change:
    """One change.

    transform   its file;  title: what is done, "pad the rows of tile by one float"
    line        of the source, where it begins, from 1
    effect      on results;  promise: what the caller must keep to from now on, "" for nothing
    """

    transform: str
    title: str
    line: int
    edits: tuple[Edit, ...]
    launch: LaunchChange = SAME_LAUNCH
    effect: Effect = "exact"
    promise: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that was not made: which, in which line, and why it is not safe."""

    transform: str
    line: int
    reason: str


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits, which do not overlap."""
    data = text.encode()
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        data = data[: edit.start] + edit.text.encode() + data[edit.end :]
    return data.decode()


Proposals: TypeAlias = "Iterator[Change | Refusal]"


@dataclass(frozen=True, slots=True)
class Transform:
    """One mechanical change.

    name    of its file
    mends   rules whose finding it is an answer to; () if it is tried on every kernel
    """

    name: str
    mends: tuple[str, ...]
    propose: Callable[[KernelSource, LaunchFacts], Proposals]

    def __call__(self, kernel: KernelSource, launch: LaunchFacts) -> Proposals:
        """Its proposals for a kernel, if one of the faults that it mends was found."""
        if not self.mends or launch.faults & set(self.mends):
            for found in self.propose(kernel, launch):
                yield replace(found, transform=self.name)


def transform(*mends: str) -> Callable[[Callable[[KernelSource, LaunchFacts], Proposals]], Transform]:
    """Makes a function the transform of its name.  mends: rules; none: it is tried on every kernel."""
    return lambda propose: Transform(propose.__name__, mends, propose)
