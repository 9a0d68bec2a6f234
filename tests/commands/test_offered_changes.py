"""Offered changes of random kernels: what alters an output is never offered, however much faster it is.

In place of the transforms each candidate has one operator exchanged for another.  Every gain counts, so all that
leaves the same outputs is offered; what is offered is launched again here, beside the kernel as it was.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from transform.random_kernels import Example, elementwise, example, reduction, stencil
from warplens.commands.suggest import suggest
from warplens.commands.suggestion.version_evaluator import SuggestRequest
from warplens.commands.target import Flags, targets
from warplens.core.run_options import RunOptions
from warplens.transform import Change, Edit, KernelSource, LaunchFacts, Transform

SEARCH = import_module("warplens.advice.search")  # the package has a function of this name
OTHER = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+=": "="}
CANDIDATES = 3


def launch_block(made: Example) -> str:
    """Its launch, on random arrays of the same sizes."""
    arguments = [
        f'"{name} = {_array(value)}"' if value.ndim else f'"{value.item()}"'
        for name, value in ((name, np.asarray(value)) for name, value in made.arguments.items())
    ]  # fmt: skip
    lines = ["/// warplens", "[k]", f"grid = {list(made.grid)}", f"block = {list(made.block)}",
             f"args = [{', '.join(arguments)}]", "///"]  # fmt: skip
    return "".join(f"// {line}\n" for line in lines)


def _array(value: np.ndarray[Any, Any]) -> str:
    kind = f"{value.dtype.kind}{8 * value.itemsize}[{value.size}]"
    return f"random(-4, 4) {kind}" if value.dtype.kind == "f" else f"random(0, 100) {kind}"


def exchanged_operators(seed: int) -> Transform:
    """A transform that exchanges one operator a candidate, and one that adds a comment only."""

    def proposals(kernel: KernelSource, launch: LaunchFacts) -> Iterator[Change]:
        nodes = [
            node.children[1] for node in kernel.find("binary_expression", "assignment_expression")
            if kernel[node.children[1]] in OTHER
        ]  # fmt: skip
        for node in random.Random(seed).sample(nodes, min(CANDIDATES, len(nodes))):
            new = OTHER[kernel[node]]
            title = f"{new} instead of {kernel[node]} in byte {node.start_byte}"
            yield Change("", title, kernel.line(node), (Edit(node.start_byte, node.end_byte, new),))

    return Transform("exchanged_operators", (), proposals)


def outputs(source: str, arguments: list[Any], made: Example) -> list[np.ndarray[Any, Any]]:
    """The arrays after a launch of k."""
    values = [value.copy() if isinstance(value, np.ndarray) else value for value in arguments]
    wl.compile(source=source)["k"].launch(made.grid, made.block, *values)
    return [value for value in values if isinstance(value, np.ndarray)]


def check_offered(
    kind: Callable[[random.Random], Example], seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> int:
    """How many candidates altered an output."""
    made = example(kind, seed)
    path = folder / "k.cu"
    path.write_text(launch_block(made) + made.source)
    monkeypatch.setattr(SEARCH, "NOISE", -1e9)
    monkeypatch.setattr(SEARCH, "MOST_STEPS", 1)
    monkeypatch.setattr(SEARCH, "transforms", lambda: (exchanged_operators(seed),))
    (target,) = targets(str(path), Flags(gpu="h200"))
    found = suggest(target, SuggestRequest(RunOptions()), lambda what, done, of: None).suggestion
    expected = outputs(found.start.text, target.fresh_values(), made)
    offered = [step for step in (*found.steps, *found.tried) if step.evaluation.outcome == "equal"]
    for step in offered:
        for before, after in zip(expected, outputs(step.after.text, target.fresh_values(), made), strict=True):
            assert before.tobytes() == after.tobytes(), (step.change.title, step.after.text)
    return sum(step.evaluation.outcome in ("outputs differ", "fault") for step in found.tried)


@pytest.mark.parametrize("kind", [elementwise, stencil, reduction], ids=lambda kind: kind.__name__)
def test_a_change_that_alters_an_output_is_not_offered(
    kind: Callable[[random.Random], Example], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_offered(kind, 1, tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.parametrize("kind", [elementwise, stencil, reduction], ids=lambda kind: kind.__name__)
def test_a_change_that_alters_an_output_is_not_offered_for_many_kernels(
    kind: Callable[[random.Random], Example], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_offered(kind, seed, tmp_path, monkeypatch)
