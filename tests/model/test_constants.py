"""Each number in the code of the time model is declared: measured, published or assumed (machine/parameter.py).

A constant of a module is declared by a call of one of these functions, or its comment, or the one above it, says
`defined`: a size, an encoding or a place in an array, no property of a GPU that could be measured.  What was read on a
GPU is in its description.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import warplens
import warplens.model
from warplens.machine.parameter import KINDS

FOLDER = Path(warplens.model.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
SOURCES = Path(warplens.__file__).parent
ROOT = SOURCES.parents[1]
DEFINED = re.compile(r"#.*\bdefined: \S")
DOCUMENT = re.compile(r"arXiv \d{4}\.\d{5}|white paper|Guide|data sheet")
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


def declarations(tree: ast.AST) -> list[ast.Call]:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in KINDS]


def undeclared(text: str) -> list[str]:
    """Constants of a module whose numbers are neither declared nor defined."""
    lines = text.splitlines()
    found = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        if node.value in declarations(node.value) or all(number.value in PLAIN for number in numbers(node.value)):
            continue
        first = node.lineno - 1
        while lines[first - 1].startswith("#"):
            first -= 1
        if not DEFINED.search("\n".join(lines[first : node.end_lineno])):
            found.append(lines[node.lineno - 1])
    return found


def incomplete(text: str) -> list[str]:
    """Declarations without a unit, a reason, a file of readings that exists, or a document."""
    found = []
    for call in declarations(ast.parse(text)):
        assert isinstance(call.func, ast.Name)
        texts = [a.value for a in call.args[1:] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        unit, source = (*texts, "", "")[:2]
        files = re.findall(r"(?:measurements|tests/validation|src/warplens/labs)/[\w/.]+\w", source)
        known = {
            "measured": bool(files) and all((ROOT / file).is_file() for file in files),
            "published": bool(DOCUMENT.search(source)), "assumed": bool(source),
        }  # fmt: skip
        if not unit or not known[call.func.id]:
            found.append(ast.unparse(call))
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
def test_constants_are_declared(file: Path) -> None:
    assert undeclared(file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_factors_have_names(file: Path) -> None:
    assert factors(file.read_text(encoding="utf-8"), file.name) == []


def test_declarations_are_complete() -> None:
    files = sorted(SOURCES.rglob("*.py"))
    texts = {str(file.relative_to(SOURCES)): file.read_text(encoding="utf-8") for file in files}
    found = {name: incomplete(text) for name, text in texts.items() if "from warplens.machine.parameter" in text}
    assert len(found) > 15
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_a_number_without_a_declaration_is_found() -> None:
    said = 'A = 32\n# of L2\nB = 0.7\n# defined: a size\nC = 0.7\nD = assumed(3, "lines", "so")\nE = 3  # three'
    assert undeclared(said) == ["B = 0.7", "E = 3  # three"]
    assert factors("def f(x):\n    return 0.85 * x + 0.5", "f.py") == ["f: 0.85"]


@pytest.mark.parametrize(
    "call",
    [
        "assumed(3, 'lines', '')", "assumed(3, '', 'so')", "measured(3, 'lines', 'an H200')",
        "measured(3, 'lines', 'measurements/h200/no_such_file.csv')", "published(3, 'lines', 'somewhere')",
    ],
)  # fmt: skip
def test_an_incomplete_declaration_is_found(call: str) -> None:
    assert incomplete(call) == [call]
