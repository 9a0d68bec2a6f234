"""What README.md shows works.  Its generated parts are checked by docs/regenerate.py."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *ROOT.glob("benchmarks/*.md"), *sorted(ROOT.glob("docs/*.md"))]


def test_the_python_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), {})
    instructions, sectors = capsys.readouterr().out.splitlines()
    warps = (1 << 20) // 32
    assert int(instructions) % warps == 0, "every warp of this launch takes the same way"
    assert sectors == f"{8 * warps} sector exact"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", prose)
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing
