"""Whole programs in `warplens check`: a record a kernel and launch shape."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from warplens.cli.main import main

DRIVER = Path(__file__).parents[1] / "program" / "programs" / "driver.py"


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="whole programs run on Linux")
def test_the_launches_of_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "driver.py"
    program.write_text(DRIVER.read_text())
    run = f"{shlex.quote(sys.executable)} driver.py; test $? = 7"  # what this program ends with
    Path("warplens.toml").write_text(
        f'[[programs]]\nname = "driver"\ncommand = ["bash", "-c", {json.dumps(run)}]\n'
        'budgets = ["smsp__inst_executed.sum <= 1.02 * baseline", "gld_efficiency == 100"]\n'
    )
    assert main(["check", "--save"]) == 0
    capfd.readouterr()
    assert main(["check", "--format", "json"]) == 0
    output = capfd.readouterr()
    (kernel,) = json.loads(output.out)["kernels"]
    assert (kernel["name"], kernel["verdict"]) == ("add<<<256, 256>>>", "UNCHANGED")
    assert "PASS" in output.err, "what the program prints is beside the report"
    program.write_text(DRIVER.read_text().replace("a[i] + b[i]", "a[i] + b[i % n]"))
    assert main(["check"]) == 1
    assert "add.cu:5: " in capfd.readouterr().out
    Path("warplens.toml").write_text('[[programs]]\ncommand = ["false"]\n')
    assert main(["check", "--require", "spills == 0"]) == 3
    assert "the program ended with 1" in capfd.readouterr().out
