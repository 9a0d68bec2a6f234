"""Writes the parts of README.md and of pages in docs/ that programs print.

    python docs/regenerate.py           writes them
    python docs/regenerate.py --check   ends with 1 if one of them is not what the program prints today
    python docs/regenerate.py [--check] docs/cli.md ...   of these pages alone

Such a part stands between `<!-- begin: COMMAND -->` and `<!-- end -->`: a table or a page as it is, all else as text.
`begin: $ COMMAND` shows the command, too, up to a `2>&1` or `|`; `$1` is of one that ends with 1.  It runs in a folder
of its own with the files that the page shows: code behind `<!-- file: NAME -->`.  Commands of one folder run in the
order of the page; a translation with the same files and commands gets the same output without running them again.
"""

from __future__ import annotations

import atexit
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import translations

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md", ROOT / "docs" / "api.md", ROOT / "docs" / "calibration_sources.md", ROOT / "docs" / "cli.md",
    ROOT / "docs" / "compute_sanitizer.md", ROOT / "docs" / "gpus.md", ROOT / "docs" / "hardware.md",
    ROOT / "docs" / "metric_list.md", ROOT / "docs" / "opcodes.md", ROOT / "docs" / "rules.md",
    ROOT / "docs" / "suggest_common_styles.md", ROOT / "docs" / "suggest_measured.md",
    ROOT / "docs" / "suggest_more_styles.md", ROOT / "docs" / "suggest_third_styles.md",
    ROOT / "docs" / "validation.md",
    ROOT / "benchmarks" / "labs" / "README.md",
    *sorted((ROOT / "docs" / "tutorial").glob("*.md")), ROOT / "README.zh.md",
    *sorted((ROOT / "docs" / "zh").rglob("*.md")),
)  # fmt: skip
PART = re.compile(r"(<!-- begin: (?P<command>.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
FILE = re.compile(r"^<!-- file: (?P<name>\S+) -->\n+```\w*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"\$(\d?) ")
FILTER = re.compile(r"\s+(?:2>&1|\|).*")
COLUMNS = "88"  # as wide as GitHub shows a text block without scrolling

Files = tuple[tuple[str, str], ...]


@cache
def printed(command: str, folder: Path = ROOT, code: int = 0) -> str:
    """What the command prints, this interpreter's folder first on the path.  CalledProcessError if it ends with another
    exit code."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    plain = {"PATH": path, "COLUMNS": COLUMNS, "TERM": "dumb", "NO_COLOR": "1"}
    shell = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(shell, cwd=folder, env=os.environ | plain, stdout=subprocess.PIPE, text=True)
    if done.returncode != code:
        raise subprocess.CalledProcessError(done.returncode, command)
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + "\n"


@cache
def folder_of(files: Files) -> Path:
    """A folder with these files, until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="warplens-page-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for name, text in files:
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def part(command: str, files: Files) -> str:
    """What stands between begin and end."""
    shown = SHOWN.match(command)
    if shown is None:
        return block(printed(command))
    command = command[shown.end() :]
    output = printed(command, folder_of(files), int(shown[1] or 0))
    return f"```sh\n{FILTER.sub('', command)}\n```\n\n{block(output)}"


def block(text: str) -> str:
    return text if text.startswith(("|", "#")) else f"```text\n{text}```\n"


def regenerated(page: str) -> str:
    """The page with each part as it is printed now."""
    files = tuple((found["name"], found["text"]) for found in FILE.finditer(page))
    return PART.sub(lambda found: f"{found[1]}{part(found['command'], files)}{found[3]}", page)


def main() -> int:
    chosen = [Path(word).resolve() for word in sys.argv[1:] if word != "--check"]
    return max(write(page, "--check" in sys.argv[1:]) for page in chosen or PAGES)


def write(page: Path, check: bool) -> int:
    """0 if the page was, or now is, as printed today."""
    old = page.read_text(encoding="utf-8")
    new = regenerated(old)
    if english := translations.original(page):
        text = english.read_text(encoding="utf-8")
        new = translations.with_notes(new, text, os.path.relpath(english, page.parent))
        for heading in translations.behind(new, text):
            print(f"{page.name}: the section {heading!r} is translated from an older text, or not at all")
    if not check:
        page.write_text(new, encoding="utf-8")
        return 0
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), page.name, "printed today", lineterm="")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    if old != new:
        print(f"{page.name} is out of date: run `make readme`")
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
