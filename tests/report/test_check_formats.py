"""Formats of `warplens check`: each of the verdicts in each of them."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from xml.etree import ElementTree

import jsonschema
import pytest

from helpers.published_schemas import sarif_schema
from warplens.core.cubin import SourceLine
from warplens.regression.kernel_record import KernelKey
from warplens.regression.line_attribution import Attribution
from warplens.regression.verdict import BrokenBudget, CountChange, KernelVerdict, Verdict
from warplens.report.check import formats
from warplens.report.regression_views.check_view import CheckView

LINE = Attribution(SourceLine("a b.cu", 40), "x = a < b | c % 2; // `odd`\x1b[31m", "sectors.sum", 64, 128)
BROKEN = BrokenBudget("sectors.sum <= baseline", 128, 64, "sector", 64, True, "", LINE)
PREDICTED = BrokenBudget("time.sum < 3 us", 4100.5, 3000, "ns", None, False, "predicted", None)
CODES = {Verdict.ERROR: 3, Verdict.FAIL: 1, Verdict.GONE: 1, Verdict.NOT_COMPARABLE: 2}


def verdict(kind: Verdict) -> KernelVerdict:
    told = kind in (Verdict.ERROR, Verdict.GONE, Verdict.NOT_COMPARABLE)
    return KernelVerdict(
        KernelKey("a b.cu", f"k<{kind}>", "sm_90", "h200"), kind, f"50 % of it:\n{kind} ]]>" if told else "",
        (BROKEN, PREDICTED) if kind is Verdict.FAIL else (),
        (CountChange("inst.sum", "inst", 10, 8, True),) if kind is Verdict.IMPROVED else (),
        SourceLine("a b.cu", 38), kind is Verdict.FAIL, CODES.get(kind, 0),
    )  # fmt: skip


VIEW = CheckView("lib", tuple(map(verdict, Verdict)), ("no metric 'x' is known",), {"nvrtc": "13.0"}, "b.toml")
PASSED = CheckView(".", (verdict(Verdict.UNCHANGED),))


def written(name: str, view: CheckView = VIEW) -> str:
    text = formats()[name](view)
    assert "\x1b" not in text
    return text


def test_the_folder_is_the_list() -> None:
    assert list(formats()) == ["github", "json", "junit", "markdown", "sarif", "text"]


def test_text() -> None:
    lines = written("text").splitlines()
    assert lines[-1] == (
        "8 kernels: 1 ERROR, 1 FAIL, 1 GONE, 1 NOT COMPARABLE, 1 NEW, 1 PASS, 1 IMPROVED, 1 UNCHANGED; 1 executed"
    )
    place = lines.index("FAIL            lib/a b.cu: k<FAIL> (sm_90, h200)")
    assert lines[place + 1].strip() == "sectors.sum <= baseline: 128 sector (baseline 64), bound 64"
    assert lines[place + 2].strip().startswith("lib/a b.cu:40: x = a < b | c % 2;")
    assert "4,100.5 ns, bound 3,000; predicted, so it does not fail the build" in lines[place + 3]
    assert "inst.sum: 10 -> 8 inst" in written("text")


def test_unchanged_kernels_are_named_where_they_are_few() -> None:
    many = CheckView(".", (verdict(Verdict.UNCHANGED),) * 21)
    assert written("text", many).splitlines() == [
        "UNCHANGED       21 kernels more", "21 kernels: 21 UNCHANGED; 0 executed"
    ]  # fmt: skip


def test_json_follows_its_schema() -> None:
    schema = json.loads(files("warplens.report.json").joinpath("check_schema.json").read_text())
    for view in (VIEW, PASSED):
        document = json.loads(written("json", view))
        jsonschema.validate(document, schema)
        assert document["exit_code"] == view.exit_code
    broken = json.loads(written("json"))["kernels"][1]["broken"]
    assert [(one["line"], one["fails"]) for one in broken] == [(40, True), (38, False)]


def test_sarif_has_findings_at_source_lines() -> None:
    for view in (VIEW, PASSED):
        document = json.loads(written("sarif", view))
        jsonschema.validate(document, sarif_schema())
        document["runs"][0]["columnKind"] = "bytes"
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(document, sarif_schema())
    (run,) = json.loads(written("sarif"))["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    places = {
        result["message"]["text"].split()[0]: result["locations"][0]["physicalLocation"]
        for result in run["results"] if "locations" in result
    }  # fmt: skip
    assert places["k<GONE>"]["region"] == {"startLine": 38}
    assert {place["artifactLocation"]["uri"] for place in places.values()} == {"lib/a%20b.cu"}
    budgets = [r for r in run["results"] if r["ruleId"] == "budget"]
    assert [(r["level"], r["locations"][0]["physicalLocation"]["region"]["startLine"]) for r in budgets] == [
        ("error", 40), ("note", 38),
    ]  # fmt: skip
    assert json.loads(written("sarif", PASSED))["runs"][0]["results"] == []


def test_fingerprints_stay_when_lines_move() -> None:
    def prints(view: CheckView) -> list[str]:
        results = json.loads(written("sarif", view))["runs"][0]["results"]
        return [result["partialFingerprints"]["warplens/v1"] for result in results]

    assert len(set(prints(VIEW))) == len(prints(VIEW)) == 6
    below = replace(BROKEN, at=replace(LINE, place=SourceLine("a b.cu", 90)))
    moved = replace(
        VIEW,
        kernels=tuple(
            replace(k, line=SourceLine("a b.cu", 88), broken=(below, PREDICTED) if k.broken else ())
            for k in VIEW.kernels
        ),
    )
    assert '"startLine": 90' in written("sarif", moved)
    assert prints(moved) == prints(VIEW)


def test_junit() -> None:
    root = ElementTree.fromstring(written("junit"))
    suite = root.find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "8", "failures": "2", "errors": "2"
    }  # fmt: skip
    kinds = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert kinds["k<FAIL> (sm_90, h200)"] == kinds["k<GONE> (sm_90, h200)"] == ["failure"]
    assert kinds["k<ERROR> (sm_90, h200)"] == kinds["settings"] == ["error"]
    assert kinds["k<PASS> (sm_90, h200)"] == ["system-out"]


def test_github() -> None:
    lines = written("github").splitlines()
    assert lines[0] == "::error title=warplens::no metric 'x' is known"
    file = "file=lib/a b.cu"
    assert lines[1].startswith(f"::error {file},line=38,title=warplens%3A k<ERROR> ERROR::50 %25 of it:%0AERROR")
    assert lines[2].startswith(f"::error {file},line=40,title=warplens%3A k<FAIL> FAIL::sectors.sum <= baseline")
    assert lines[3].startswith(f"::notice {file},line=38,")
    assert not written("github", PASSED).startswith("::")


def test_markdown_keeps_its_cells() -> None:
    text = written("markdown")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "kernel |" not in line]
    assert len(rows) == 8, "an unchanged kernel has no row, FAIL has two"
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
    assert "x = a < b \\| c % 2; // 'odd'" in text
    assert text.startswith("### warplens: failed (exit code 3)")
    assert written("markdown", PASSED).startswith("### warplens: passed\n")


@pytest.mark.parametrize("name", ["github", "json", "junit", "markdown", "sarif", "text"])
def test_formats_depend_on_nothing_but_the_view(name: str) -> None:
    assert written(name) == written(name)
