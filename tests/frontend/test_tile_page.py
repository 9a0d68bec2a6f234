"""The examples of docs/cuda_tile.md; where cuda.tile is installed."""

import re
from pathlib import Path

import pytest

import warplens as wl
from warplens.frontend.tile_kernel import cuda_tile_installed

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "cuda_tile.md").read_text()


@pytest.mark.skipif(not cuda_tile_installed(), reason="cuda.tile is not installed")
def test_the_page_can_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    run, (again,) = names["run"], names["runs"]  # type: ignore[misc]
    assert isinstance(run, wl.Run)
    assert (run.kernel.kernel.arch, again.kernel.kernel.arch) == ("sm_90", "sm_80")
    assert (names["c"] == 64).all()  # type: ignore[attr-defined]


def test_the_page_says_what_is_installed() -> None:
    assert 'pip install "warplens[cuda-tile]"' in PAGE
    assert "cuda-tile = [" in (ROOT / "pyproject.toml").read_text()
    assert (ROOT / re.findall(r"warplens explain (\S+)", PAGE)[0]).is_file()
