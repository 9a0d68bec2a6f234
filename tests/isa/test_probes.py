"""What the executor makes of 1,121 expressions: as the host's compiler has them, and as an H200, bit for bit.

All functions of CUDA's math API and of its headers of narrow floats are among them.
The H200's results are kept as check sums of 4,096 results each, measurements/h200/probes.csv.
"""

from __future__ import annotations

import csv
from functools import cache
from itertools import product
from pathlib import Path

import ptx_forms
import pytest
from host_probes import on_host
from probe_kernels import Probe, digest, module, probes, results

MEASURED = Path(__file__).parents[2] / "measurements" / "h200"
STEP = 10
OTHERS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_100", "sm_120")
GROUPS = tuple(dict.fromkeys(probe.group for probe in probes()))


def rows(name: str) -> list[dict[str, str]]:
    with (MEASURED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@cache
def measured() -> dict[tuple[str, str], dict[str, str]]:
    return {(row["group"], row["expression"]): row for row in rows("probes.csv")}


def wrong(chosen: list[Probe], arch: str) -> list[str]:
    """Expressions that are not what the host makes of them, or on sm_90 not what the H200 did."""
    found = []
    for probe in chosen:
        got, row = results(probe, arch), measured().get((probe.group, probe.expression))
        if probe.host and on_host(probe).differs(got).size:
            found.append(f"{probe.expression} is not the host's")
        if arch == "sm_90" and row and row["differ"] == "0" and digest(got) != row["digest"]:
            found.append(f"{probe.expression} is not an H200's")
    return found


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, len(probes()), STEP))
def test_bit_for_bit(start: int) -> None:
    assert wrong([probe for probe in probes()[start : start + STEP] if probe.on("sm_90")], "sm_90") == []


@pytest.mark.long
@pytest.mark.parametrize("arch", OTHERS)
@pytest.mark.parametrize("group", GROUPS)
def test_as_the_host_elsewhere(group: str, arch: str) -> None:
    assert wrong([probe for probe in probes() if probe.group == group and probe.on(arch)], arch) == []


def test_most_expressions_are_compared() -> None:
    """All but approximations, and functions that CUDA's library rounds in its own way."""
    assert sum(probe.host is not None for probe in probes()) > 900
    assert sum(row["differ"] == "0" for row in measured().values()) > 1050
    assert all((p.group, p.expression) in measured() for p in probes() if p.on("sm_90"))


@pytest.mark.long
def test_expressions_and_lines_of_ptx_hold_the_opcodes_that_they_prove() -> None:
    claimed = {r["opcode"] for r in rows("opcodes.csv") if int(r["equal"]) and "90" in r["architectures"].split()}
    agreed = [p for p in probes() if p.on("sm_90") and measured()[p.group, p.expression]["differ"] == "0"]
    held = {i.opcode for p in agreed for i in module(p.group, "sm_90")[p.kernel].program.body}
    for batch, arch in product(ptx_forms.batches(), ("sm_90", *OTHERS)):  # a line proves wherever
        made, lines = ptx_forms.module(batch, arch)
        held |= {i.opcode for form in lines if made for i in made[form.kernel].program.body}
    assert claimed <= held
