"""What the executor makes of 550 expressions, beside what an H200 made of the same binaries, bit for bit.

The H200's results are kept as check sums of 4096 results each, measurements/h200/probes.csv.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from probe_kernels import digest, expressions, module

MEASURED = Path(__file__).parents[2] / "measurements" / "h200"
STEP = 20


def measured(name: str) -> list[dict[str, str]]:
    with (MEASURED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbered() -> dict[tuple[str, int], dict[str, str]]:
    """The measured expressions by group and number, where the executor is to agree."""
    places = {(group, text): n for group, texts in expressions().items() for n, text in enumerate(texts)}
    rows = ((places[row["group"], row["expression"]], row) for row in measured("probes.csv"))
    return {(row["group"], n): row for n, row in rows if row["differ"] == "0"}


CHUNKS = [(group, start) for group, texts in expressions().items() for start in range(0, len(texts), STEP)]


@pytest.mark.long
@pytest.mark.parametrize(("group", "start"), CHUNKS)
def test_as_on_an_h200(group: str, start: int) -> None:
    rows = {n: row for (of, n), row in numbered().items() if of == group and start <= n < start + STEP}
    wrong = [row["expression"] for n, row in rows.items() if digest(group, n, "sm_90") != row["digest"]]
    assert not wrong


@pytest.mark.long
def test_the_expressions_hold_the_opcodes_that_they_prove() -> None:
    claimed = {r["opcode"] for r in measured("opcodes.csv") if int(r["equal"]) and "90" in r["architectures"].split()}
    agreed = numbered()
    held = {
        instruction.opcode
        for group, texts in expressions().items()
        for n in range(len(texts))
        if (group, n) in agreed
        for instruction in module(group, "sm_90")[f"{group}{n}"].program.body
    }
    assert claimed <= held


def test_most_expressions_agree() -> None:
    """Those that do not use approximations of MUFU, or differ in which of two NaN survives."""
    assert len(numbered()) > 500
    assert len(measured("probes.csv")) == sum(map(len, expressions().values()))
