"""The JSON document and its schema."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from helpers.hand_made_traces import kernel, program, trace
from warplens.core.counts import Trace
from warplens.core.launch import Launch
from warplens.core.metric import Metric
from warplens.core.program import Program
from warplens.counters.metric_collection import metrics
from warplens.counters.occupancy import occupancy
from warplens.machine import machine
from warplens.report.finding_text import format_finding
from warplens.report.json.document import document, schema, text
from warplens.report.launch_view import LaunchView
from warplens.rules import findings


def made(tools: dict[str, str] | None = None) -> dict[str, Any]:
    code = program("LDG.E R0,[R2.64]\n@!P0 EXIT\nEXIT", lines=(7, 7, None))
    rows = [
        {"executed": 3, "requests": 3, "sectors": 10, "ideal": 10},
        {"executed": 3},
        {"executed": 1},
    ]
    seen = trace(Launch((1, 1, 1), (96, 1, 1)), rows)
    return document(view(code, seen, tools or {"warplens": "1", "nvrtc": "13.0"}))


def view(code: Program, counts: Trace, tools: dict[str, str]) -> LaunchView:
    gpu, called = machine("h200"), kernel()
    held = occupancy(gpu, called.registers, counts.launch.threads_per_block, 0, 0, 0)
    return LaunchView(
        "k", "k.cu", called, code, counts.launch, counts, metrics(code, counts, called), held, gpu, "", (), {}, tools,
    )  # fmt: skip


def test_follows_the_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(made(), schema())


def test_findings_are_those_of_the_other_reports() -> None:
    code = program("LDG.E R0,[R2.64]\nEXIT", lines=(7, None))
    counts = trace(Launch((1, 1, 1), (96, 1, 1)), [{"executed": 3, "requests": 3, "sectors": 96, "ideal": 12}, {}])
    subject = view(code, counts, {"warplens": "1"})
    found = document(subject)
    jsonschema.validate(found, schema())
    (first, *_) = found["findings"]
    assert {one["fault"] for one in found["findings"]} >= {first["fault"], "uncoalesced_access"}
    assert first["text"] == format_finding(findings(subject)[0], subject)
    assert first["line"]["line"] == 7
    assert 0 < first["weight"] <= 1


def test_the_schema_refuses_a_made_up_provenance() -> None:
    wrong = made()
    wrong["metrics"]["smsp__inst_executed.sum"]["provenance"] = "guessed"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema())


def test_content() -> None:
    content = made()
    assert content["metrics"]["smsp__inst_executed.sum"] == {
        "value": 7,
        "unit": "inst",
        "provenance": "exact",
    }
    assert [(line["line"], line["metrics"]["smsp__inst_executed.sum"]) for line in content["lines"]] == [(7, 6)]
    assert [one["guard"] for one in content["instructions"]] == [None, "@!P0", None]
    assert content["instructions"][2]["source"] is None
    assert "smsp__sass_sectors_mem_global.sum" not in content["instructions"][1]["metrics"]
    ratio = content["metrics"]["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"]
    assert ratio["value"] == pytest.approx(10 / 3)


def test_bytes_do_not_depend_on_the_order_of_what_came_in() -> None:
    assert text(made({"nvrtc": "13.0", "warplens": "1"})) == text(made({"warplens": "1", "nvrtc": "13.0"}))


def test_whole_numbers_are_integers_and_nothing_is_nan() -> None:
    code = program("EXIT")
    strange = {"a": Metric(4.0, "", "exact"), "b": Metric(float("nan"), "", "modelled")}
    counts = trace(Launch((1, 1, 1), (32, 1, 1)), [{"executed": 1}])
    content = document(view(code, counts, {}), strange)
    assert '"value": 4,' in text(content)
    assert content["metrics"]["b"]["value"] is None
