"""JUnit XML: one test case a kernel, one suite a file, as CI servers read them."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree as Xml

from warplens.control_characters import visible
from warplens.regression.verdict import KernelVerdict, Verdict
from warplens.report.regression_views.check_view import CheckView, attributed, broken_text

NAME = "junit"
FAILURES = {Verdict.FAIL, Verdict.GONE}


def text(view: CheckView) -> str:
    root = Xml.Element("testsuites", name="warplens check")
    for file, kernels in groupby(view.kernels, key=lambda kernel: kernel.key.file):
        _suite(root, view, view.path(file), list(kernels))
    if view.problems:
        suite = Xml.SubElement(root, "testsuite", name="settings", tests="1", failures="0", errors="1")
        case = Xml.SubElement(suite, "testcase", classname="warplens", name="settings")
        Xml.SubElement(case, "error", message=visible(view.problems[0])).text = visible("\n".join(view.problems))
    Xml.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{Xml.tostring(root, encoding='unicode')}\n"


def _suite(root: Xml.Element, view: CheckView, path: str, kernels: list[KernelVerdict]) -> None:
    failures = sum(kernel.verdict in FAILURES for kernel in kernels)
    errors = sum(kernel.exit_code > 0 for kernel in kernels) - failures
    suite = Xml.SubElement(
        root, "testsuite", name=visible(path), tests=str(len(kernels)), failures=str(failures), errors=str(errors)
    )
    for kernel in kernels:
        key = kernel.key
        name = f"{key.name or 'all kernels'} ({key.arch}, {key.gpu})"
        case = Xml.SubElement(suite, "testcase", classname=visible(path), name=visible(name))
        case.set("file", visible(view.place(kernel).file))
        case.set("line", str(view.place(kernel).line))
        lines = _lines(view, kernel)
        if kernel.exit_code:
            kind = "failure" if kernel.verdict in FAILURES else "error"
            failure = Xml.SubElement(case, kind, type=str(kernel.verdict), message=visible(lines[0]))
            failure.text = visible("\n".join(lines))
        else:
            Xml.SubElement(case, "system-out").text = visible("\n".join([str(kernel.verdict), *lines]))


def _lines(view: CheckView, kernel: KernelVerdict) -> list[str]:
    lines = [kernel.note] if kernel.note else []
    for broken in kernel.broken:
        place = view.at(kernel, broken)
        lines += [broken_text(broken), f"  {place.file}:{place.line}: {attributed(broken)}"]
    return lines
