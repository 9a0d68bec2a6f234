"""Commands of the pages on the gate, of the action and the hook: each is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from warplens.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = ("docs/check.md", "docs/ci.md", "docs/diff.md", "action.yml", ".pre-commit-hooks.yaml")
COMMAND = re.compile(r"^(?:\s*(?:- |entry: )?)(warplens (?:check|diff)\b.*)$", re.MULTILINE)


def commands() -> list[str]:
    return [found for page in PAGES for found in COMMAND.findall((ROOT / page).read_text(encoding="utf-8"))]


def test_each_page_has_commands() -> None:
    assert all(COMMAND.search((ROOT / page).read_text(encoding="utf-8")) for page in PAGES)


@pytest.mark.parametrize("command", commands())
def test_the_command_line_takes_it(command: str) -> None:
    words = [word for word in shlex.split(command, comments=True)[1:] if not word.startswith("${")]
    verb = cli.commands[words[0]]
    context = verb.make_context(words[0], words[1:])
    if context.params.get("form") is not None:
        reports = [text.partition("=")[0] for text in context.params["reports"]]
        from warplens.report.check import formats

        assert {context.params["form"], *reports} <= formats().keys()
    assert isinstance(context, click.Context)


def test_the_pytest_example_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    from warplens.testing.kernel_tester import KernelTester

    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(example, "ci.md", "exec"), names)
    names["test_copy"](KernelTester())  # type: ignore[operator]
