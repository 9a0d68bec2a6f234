"""Macros that hide the number of the thread: written out where a change is not possible without."""

from __future__ import annotations

from warplens.advice import Evaluation, Version, search
from warplens.transform import Change, LaunchFacts

SOURCE = """\
#define ROW (blockIdx.x * blockDim.x + threadIdx.x)
#define COL (blockIdx.y * blockDim.y + threadIdx.y)
#define IDX(r, c) ((r) * w + (c))
__global__ void f(const float* a, float* b, int w) {
    b[IDX(ROW, COL)] = a[IDX(ROW, COL)];
}
"""


def test_axes_in_macros_are_exchanged_and_other_macros_stay() -> None:
    facts = LaunchFacts((4, 4, 1), (16, 16, 1), faults=frozenset({"uncoalesced_access"}))

    def evaluate(version: Version, changes: tuple[Change, ...], limit: float | None) -> Evaluation:
        exchanged = any(change.transform == "swap_axes" for change in changes)
        return Evaluation("equal", facts, 5.0 if exchanged else 10.0, counts={})

    found = search(Version(SOURCE), "f", evaluate, lambda what, done, of: None)
    text = found.end.text
    assert "b[IDX((blockIdx.y * blockDim.y + threadIdx.y), (blockIdx.x * blockDim.x + threadIdx.x))] =" in text
    assert text.startswith(SOURCE.partition("__global__")[0])
    restrict = next(step.change for step in found.tried if step.change.transform == "restrict_pointers")
    assert all("blockIdx" not in edit.text for edit in restrict.edits)
