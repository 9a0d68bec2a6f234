"""Python files whose launches are explained; with Triton or cuda.tile see tests/frontend."""

from pathlib import Path

import pytest

from warplens.cli.main import main
from warplens.commands import python_launches


def test_without_both_compilers_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(python_launches, "cuda_tile_installed", lambda: False)
    monkeypatch.setattr(python_launches, "triton_installed", lambda: False)
    file = tmp_path / "launches.py"
    file.write_text("raise SystemExit('it runs')  # import triton\n")
    assert main(["explain", str(file), "--gpu", "h200"]) == 2
    told = capsys.readouterr().err
    assert 'neither Triton nor cuda.tile is installed: pip install "warplens[triton]" or "warplens[cuda-tile]"' in told
    assert "it runs" not in told
    file.write_text("raise SystemExit('it runs')\n")
    assert main(["explain", str(file), "--gpu", "h200"]) == 2
    assert f"{file} launches no kernel of Triton or cuda.tile; `warplens run -- python" in capsys.readouterr().err
