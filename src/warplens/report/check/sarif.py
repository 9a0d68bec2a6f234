"""SARIF 2.1.0: findings at source lines, as code scanning services read them.

The keys are those of "Static Analysis Results Interchange Format (SARIF) Version 2.1.0", OASIS Standard: tool 3.18,
result 3.27, location 3.28, region 3.30, partialFingerprints 3.27.17.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from warplens.control_characters import escaped
from warplens.core.cubin import SourceLine
from warplens.regression.verdict import BrokenBudget, KernelVerdict, Verdict
from warplens.report.regression_views.check_view import CheckView, attributed, broken_text
from warplens.version import __version__

NAME = "sarif"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RULES = {
    "budget": "A budget on a kernel's counts is not kept",
    "gone": "A kernel of the baseline is gone",
    "not-comparable": "A kernel cannot be compared with the baseline",
    "error": "A kernel cannot be checked",
    "settings": "The settings or the baseline are wrong",
}
TOLD = {Verdict.GONE: "gone", Verdict.NOT_COMPARABLE: "not-comparable", Verdict.ERROR: "error"}


def text(view: CheckView) -> str:
    rules = [{"id": name, "shortDescription": {"text": means}} for name, means in RULES.items()]
    driver = {"name": "warplens", "semanticVersion": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": view.exit_code < 2, "exitCode": view.exit_code}],
        "results": list(_results(view)),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return escaped(json.dumps(log, indent=1, ensure_ascii=False)) + "\n"


def _results(view: CheckView) -> Iterator[dict[str, Any]]:
    for problem in view.problems:
        yield _result("settings", "error", problem, None, problem)
    for kernel in view.kernels:
        if kernel.verdict in TOLD:
            rule = TOLD[kernel.verdict]
            yield _result(rule, "error", f"{_name(kernel)}: {kernel.note}", view.place(kernel), _name(kernel))
        for broken in kernel.broken:
            level = "error" if broken.fails else "note"
            place = view.at(kernel, broken)
            yield _result("budget", level, _message(kernel, broken), place, f"{_name(kernel)} {broken.budget}")


def _name(kernel: KernelVerdict) -> str:
    return f"{kernel.key.name or kernel.key.file} ({kernel.key.arch}, {kernel.key.gpu})"


def _message(kernel: KernelVerdict, broken: BrokenBudget) -> str:
    line = attributed(broken)
    return f"{_name(kernel)}: {broken_text(broken)}{f'.  {line}' if line else ''}"


def _result(rule: str, level: str, message: str, place: SourceLine | None, identity: str) -> dict[str, Any]:
    """identity: what is the same of this result when lines move."""
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": level,
        "message": {"text": message},
        "partialFingerprints": {"warplens/v1": hashlib.sha256(f"{rule} {identity}".encode()).hexdigest()[:32]},
    }
    if place is not None and not place.file.startswith("<"):
        artifact = {"uri": quote(place.file.replace("\\", "/")), "uriBaseId": "%SRCROOT%"}
        region = {"startLine": max(place.line, 1)}
        result["locations"] = [{"physicalLocation": {"artifactLocation": artifact, "region": region}}]
    return result
