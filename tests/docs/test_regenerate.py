"""Generated parts of pages: what is shown of a command, where it runs; tutorials show none that is not run."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from helpers.programs import module_of
from warplens.cli.main import cli

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
INSTALL = re.compile(r"pip install |python3 -m venv ")
"""Commands that are shown and not run here: tests/test_distribution.py installs the package."""
COMMAND = re.compile(r"`(warplens [a-z][^`]*)`")
regenerate = module_of("docs/regenerate.py", "regenerate")

PAGE = """
<!-- file: letters.txt -->
```text
a
b
```

<!-- begin: $ cat letters.txt 2>&1 | tr a-b c-d -->
<!-- end -->
<!-- begin: $1 false -->
<!-- end -->
<!-- begin: echo ' | 1 |' | cut -c2- -->
old
<!-- end -->
"""


def test_a_shown_command_runs_beside_the_files_of_its_page() -> None:
    made = regenerate.regenerated(PAGE)
    assert "-->\n```sh\ncat letters.txt\n```\n\n```text\nc\nd\n```\n<!-- end -->" in made
    assert "cut -c2- -->\n| 1 |\n<!-- end -->" in made, "a table is no text, and its command is not shown"
    assert regenerate.regenerated(made) == made


def test_a_command_that_fails_is_an_error() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        regenerate.regenerated(PAGE.replace("$1 false", "$ false"))


def test_pages_with_the_same_files_and_commands_share_the_output(tmp_path: Path) -> None:
    page = PAGE.replace("cat letters.txt 2>&1", f"echo x >> {tmp_path}/count; cat letters.txt")
    assert regenerate.regenerated(page) == regenerate.regenerated(page)
    assert (tmp_path / "count").read_text() == "x\n"


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_shows_no_command_that_is_not_run(page: Path) -> None:
    text = regenerate.PART.sub("", page.read_text(encoding="utf-8"))
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert [line for line in lines if not INSTALL.match(line)] == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *TUTORIALS], ids=lambda page: page.stem)
def test_verbs_and_options_in_the_text_exist(page: Path) -> None:
    commands = COMMAND.findall(regenerate.PART.sub("", page.read_text(encoding="utf-8")))
    assert commands
    for command in commands:
        _, verb, *words = shlex.split(command.partition(" -- ")[0])
        known = {name for option in cli.commands[verb].params for name in (*option.opts, *option.secondary_opts)}
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known, command
