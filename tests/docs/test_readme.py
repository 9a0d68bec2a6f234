"""What README.md shows works.  Its generated parts are checked by docs/regenerate.py, its links by tests/docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_python_example_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), {})
    instructions, sectors = capsys.readouterr().out.splitlines()
    warps = (1 << 20) // 32
    assert int(instructions) % warps == 0, "every warp of this launch takes the same way"
    assert sectors == f"{8 * warps} sector exact"
