"""Settings of `warplens check`: where they are found, what they mean, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.errors import UsageError
from warplens.regression.check_settings import read_settings, settings_for

FULL = """
files = ["*.cu", "sub/*.cu"]
exclude = "old.cu"
arch = ["sm_80", "sm_90"]
gpu = "h200"
budgets = ["spills == 0"]
fail_on = ["samples"]
sample = 8
[kernels."copy*"]
budgets = ["gld_efficiency >= 95"]
grid = [2, 2]
[[programs]]
command = ["./app", "4"]
"""


def test_all_keys(tmp_path: Path) -> None:
    (tmp_path / "warplens.toml").write_text(FULL)
    (tmp_path / "sub").mkdir()
    for name in ("b.cu", "a.cu", "old.cu", "sub/c.cu"):
        (tmp_path / name).write_text("")
    settings = settings_for(tmp_path / "sub")
    assert [path.relative_to(tmp_path).as_posix() for path in settings.paths()] == ["a.cu", "b.cu", "sub/c.cu"]
    assert (settings.arch, settings.gpu, settings.sample) == (("sm_80", "sm_90"), ("h200",), 8)
    (rule,) = settings.rules_of("copy_rows")
    assert (rule.budgets, rule.launch) == (("gld_efficiency >= 95",), {"grid": [2, 2]})
    assert settings.rules_of("scale") == ()
    assert settings.programs[0].name == "./app"


def test_pyproject_counts_where_it_has_the_table(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.warplens]\nbudgets = "spills == 0"\n')
    (inner / "pyproject.toml").write_text("[tool.other]\n")
    assert settings_for(inner).budgets == ("spills == 0",)
    assert settings_for(inner).folder == tmp_path
    with pytest.raises(UsageError, match=r"has no table \[tool.warplens\]"):
        read_settings(inner / "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("file = []", "the key 'file' is not known; did you mean files?"),
        ("files = 3", "files must be a text in quotes"),
        ("budgets = [1]", "budgets must be a text"), ("fail_on = ['all']", "possible are predictions, samples"),
        ("sample = true", "sample must be a whole number from 3"), ("instructions = 0", "a whole number from 1"),
        ("kernels = 3", "kernels must be tables"), ("[kernels]\na = 1", "[kernels.a] must be a table"),
        ("[kernels.a]\nbudget = 'x'", "[kernels.a] the key 'budget' is not known; did you mean budgets?"),
        ("[kernels.a]\nskip = 1", "skip must be true or false"), ("baseline = ''", "baseline must be the name"),
        ("programs = [1]", "programs must be tables"), ("[[programs]]\nname = 'a'", "needs a command"),
        ("files = [", "is not TOML"),
    ],
)  # fmt: skip
def test_refusals(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "warplens.toml").write_text(text)
    with pytest.raises(UsageError) as refusal:
        settings_for(tmp_path)
    assert says in str(refusal.value)
    assert "warplens.toml" in str(refusal.value)


def test_a_pattern_without_files(tmp_path: Path) -> None:
    (tmp_path / "warplens.toml").write_text('files = ["*.cuh"]')
    with pytest.raises(UsageError, match="matches no file"):
        settings_for(tmp_path).paths()
