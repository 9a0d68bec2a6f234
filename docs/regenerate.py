"""Writes the parts of README.md and of pages in docs/ that programs print.

    python docs/regenerate.py           writes them
    python docs/regenerate.py --check   ends with 1 if one of them is not what the program prints today
    python docs/regenerate.py [--check] docs/cli.md ...   of these pages alone

Such a part stands between `<!-- begin: COMMAND -->` and `<!-- end -->`: a table or a page as it is,
all else as text.
"""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md", ROOT / "docs" / "api.md", ROOT / "docs" / "calibration_sources.md", ROOT / "docs" / "cli.md",
    ROOT / "docs" / "compute_sanitizer.md", ROOT / "docs" / "gpus.md", ROOT / "docs" / "hardware.md",
    ROOT / "docs" / "metric_list.md", ROOT / "docs" / "opcodes.md", ROOT / "docs" / "rules.md",
    ROOT / "docs" / "validation.md", ROOT / "benchmarks" / "labs" / "README.md",
)  # fmt: skip
PART = re.compile(r"(<!-- begin: (?P<command>.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
COLUMNS = "88"  # as wide as GitHub shows a text block without scrolling


def printed(command: str) -> str:
    """What the command prints, this interpreter's folder first on the path.  CalledProcessError if it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    plain = {"PATH": path, "COLUMNS": COLUMNS, "TERM": "dumb", "NO_COLOR": "1"}
    shell = ["bash", "-o", "pipefail", "-c", command]
    done = subprocess.run(shell, cwd=ROOT, env=os.environ | plain, check=True, stdout=subprocess.PIPE, text=True)
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines()) + "\n"


def block(text: str) -> str:
    return text if text.startswith(("|", "#")) else f"```text\n{text}```\n"


def regenerated(page: str) -> str:
    """The page with each part as it is printed now."""
    return PART.sub(lambda part: f"{part[1]}{block(printed(part['command']))}{part[3]}", page)


def main() -> int:
    chosen = [Path(word).resolve() for word in sys.argv[1:] if word != "--check"]
    return max(write(page, "--check" in sys.argv[1:]) for page in chosen or PAGES)


def write(page: Path, check: bool) -> int:
    """0 if the page was, or now is, as printed today."""
    old = page.read_text(encoding="utf-8")
    new = regenerated(old)
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
