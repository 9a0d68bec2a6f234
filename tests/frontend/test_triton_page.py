"""The examples of docs/triton.md; where Triton is installed."""

import re
from pathlib import Path

import pytest

import warplens as wl

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "triton.md").read_text()


def test_the_page_can_be_followed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    for block in blocks:
        if "torch" not in block:
            exec(block, names)
    assert isinstance(names["run"], wl.Run)
    assert (tmp_path / "softmax.html").stat().st_size > 10_000
    assert names["kernel"].registers == 20  # type: ignore[attr-defined]


def test_the_page_says_what_is_installed() -> None:
    assert 'pip install "warplens[triton]"' in PAGE
    assert (ROOT / re.findall(r"warplens explain (\S+)", PAGE)[0]).is_file()
