"""Each number in the model of time says where it comes from.

A constant of a module has one of these words in its comment or in the one above it:

source    a reading or a publication, which is named
assumed   fitted by hand, or chosen: no program gives it
defined   a size, an encoding or a place in an array: no property of a GPU that could be measured
effort    how much of a launch is looked at: the more the nearer, and the slower
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import warplens.model

FOLDER = Path(warplens.model.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
SAID = re.compile(r"#.*\b(source|assumed|defined|effort): \S")
PLAIN = {0, 1, 2, 32, 128}  # sizes of a warp, a sector and a line among them
FACTORS = {0.0, 0.5, 1.0, 2.0, 100.0, 1e3, 1e6, 1e9} | {float(2**n) for n in range(3, 25)}
LEAST = 1e-3  # below are guards against divisions by zero and sums that do not come out
EXPLAINED = {
    ("dram_share.py", "latency_deviation"): "the percentiles of [dram_scatter]",
    ("warp_streams.py", "sectors_of"): "room for a list",
    ("sector_footprint.py", "_expected_common"): "exp(50) is as good as infinite",
}


def numbers(tree: ast.AST) -> Iterator[ast.Constant]:
    """But those of range(n), which number names."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "range":
        return
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        yield tree
    for child in ast.iter_child_nodes(tree):
        yield from numbers(child)


def unsaid(text: str) -> list[str]:
    """Constants of a module without a word on where their numbers come from."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        if all(number.value in PLAIN for number in numbers(node.value)):
            continue
        first = node.lineno - 1
        while lines[first - 1].startswith("#"):
            first -= 1
        if not SAID.search("\n".join(lines[first : node.end_lineno])):
            found.append(lines[node.lineno - 1])
    return found


def factors(text: str, file: str) -> list[str]:
    """Floats within functions, which ought to have a name."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef) and (file, function.name) not in EXPLAINED:
            values = [n.value for n in numbers(function) if isinstance(n.value, float)]
            found += [f"{function.name}: {n}" for n in values if n not in FACTORS and n > LEAST]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_constants_say_where_they_come_from(file: Path) -> None:
    assert unsaid(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_factors_have_names(file: Path) -> None:
    assert factors(file.read_text(encoding="utf-8"), file.name) == []


def test_a_number_without_a_word_is_found() -> None:
    assert unsaid("A = 32\n# of L2\nB = 0.7\n# source: x.csv\nC = 0.7\nD = 3  # assumed: so\nE = 3  # three") == [
        "B = 0.7", "E = 3  # three"
    ]  # fmt: skip
    assert factors("def f(x):\n    return 0.85 * x + 0.5", "f.py") == ["f: 0.85"]
