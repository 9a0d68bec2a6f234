"""Figures in the labs' prose: each time, rate, percentage and factor is one of the lab's table or has a source.

A figure is looked up in the table of the lab's README and in measured.csv, within the rounding in which it is
written. `prose.toml` names where any other figure comes from: a ratio of two cells of a column of the table
("Measured: 5_swizzled / 4_padded"), which is computed here, or in words ("source: ...").
"""

import csv
import re
import tomllib
from pathlib import Path

import pytest

import warplens.labs

LABS = Path(warplens.labs.__file__).parent
SOURCES = tomllib.loads((Path(__file__).parent / "prose.toml").read_text())
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
UNIT = r"µs|us|ms|GB/s|%|times(?= (?:as|fewer|more|the|less)\b)"
LIST = rf"(?P<list>(?:(?<![\w.])|~){NUMBER}(?:(?:, and |, | and | to | or | against ){NUMBER})*)"
FIGURES = re.compile(rf"{LIST} (?P<unit>{UNIT})(?!\w)|(?P<bare>(?:expects|predicts) {NUMBER})(?! (?:{UNIT}))")
MICROSECONDS = {"µs": 1.0, "us": 1.0, "ms": 1e3}


def labs() -> list[str]:
    return sorted(file.parent.name for file in LABS.glob("[a-z]*/README.md"))


def table(text: str) -> list[dict[str, str]]:
    """The rows of the lab's table, each cell under its column's heading."""
    block = text.split("<!-- begin: table -->")[1].split("<!-- end -->")[0]
    lines = [
        [cell.strip() for cell in line[1:-1].split("|")]
        for line in block.splitlines()
        if line.startswith("|") and not line.startswith("|--")
    ]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[1:]]


def value(text: str) -> float:
    return float(text.replace(",", ""))


def name(row: dict[str, str]) -> str:
    return row["Rung"].strip("[").split("]")[0]


def prose(text: str) -> str:
    """The README without what is generated, without code and without tables."""
    text = re.sub(r"<!-- begin: (.*?)<!-- end -->", "", text, flags=re.DOTALL)
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return "\n".join(line for line in text.splitlines() if not line.startswith("|"))


def known(lab: str, text: str) -> dict[str, list[float]]:
    """What the lab's table and records hold, by unit: times in microseconds."""
    values: dict[str, list[float]] = {"us": [], "GB/s": [], "%": [], "times": [], "without a unit": []}
    for row in table(text):
        for heading, cell in row.items():
            for number, unit in numbers(cell):
                values["us" if unit in MICROSECONDS else unit].append(value(number) * MICROSECONDS.get(unit, 1.0))
            for unit in ("GB/s", "%"):
                if unit in heading and re.fullmatch(NUMBER, cell):
                    values[unit].append(value(cell))
    with (LABS / lab / "measured.csv").open() as file:
        values["us"] += [float(row["time_us"]) for row in csv.DictReader(file) if row["time_us"]]
    return values


def figures(text: str) -> list[tuple[str, str]]:
    return numbers(prose(text))


def numbers(text: str) -> list[tuple[str, str]]:
    """Each number that has a unit; all numbers of a list have the unit behind its last one."""
    found = []
    for match in FIGURES.finditer(text):
        if match["bare"]:
            found.append((match["bare"].split()[1], "without a unit"))
        else:
            found += [(number, match["unit"]) for number in re.findall(NUMBER, match["list"])]
    return found


def is_rounding(number: str, scale: float, values: list[float]) -> bool:
    digits = len(number.partition(".")[2])
    return any(abs(value(number) - each / scale) <= 0.5000001 * 10**-digits for each in values)


def ratios(expression: str, text: str, unit: str) -> list[float]:
    """The ratio that a source names; for a percentage also how far it is from 1."""
    column, _, quotient = expression.partition(": ")
    first, second = quotient.split(" / ")
    cells = {name(row): row[column] for row in table(text)}

    def number(rung: str) -> float:
        digits, _, time = cells[rung].partition(" ")
        return value(digits) * MICROSECONDS.get(time, 1.0)

    ratio = number(first) / number(second)
    return [ratio] if unit == "times" else [100 * ratio, 100 * abs(ratio - 1)]


def without_source(lab: str, text: str) -> list[str]:
    sources: dict[str, str] = SOURCES.get(lab, {})
    values = known(lab, text)
    missing = []
    for number, unit in figures(text):
        written = f"{number} {unit}"
        source = sources.get(written)
        if source is None:
            candidates = values.get("us" if unit in MICROSECONDS else unit, [])
        elif source.startswith("source: "):
            continue
        else:
            candidates = ratios(source, text, unit)
        if not is_rounding(number, MICROSECONDS.get(unit, 1.0), candidates):
            missing.append(written)
    return missing


@pytest.mark.parametrize("lab", labs())
def test_each_figure_of_the_prose_is_one_of_the_table_or_has_a_source(lab: str) -> None:
    text = (LABS / lab / "README.md").read_text()
    assert without_source(lab, text) == [], "correct the prose, or name the source in tests/labs/prose.toml"


@pytest.mark.parametrize("lab", sorted(SOURCES))
def test_each_source_belongs_to_a_figure(lab: str) -> None:
    text = (LABS / lab / "README.md").read_text()
    assert set(SOURCES[lab]) <= {f"{number} {unit}" for number, unit in figures(text)}


def test_a_figure_that_the_table_does_not_hold_is_found() -> None:
    text = (LABS / "coalescing" / "README.md").read_text()
    added = text + "\nThe rows take 72 µs, between 54.6 and 55.7 µs were measured, and the model expects 105.\n"
    assert without_source("coalescing", added) == ["54.6 µs", "105 without a unit"]
