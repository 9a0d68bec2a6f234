"""What `warplens new lab` writes runs, tells what is wrong with it, and keeps its files."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import warplens.report.json
from warplens.cli.main import main
from warplens.errors import HardwareError
from warplens.hardware import Timing
from warplens.labs.lab_catalog import names

SCHEMA = Path(warplens.report.json.__file__).with_name("lab_schema.json")
TINY = ("--size", "n=4096")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "lab", "mine"]) == 0
    assert "warplens lab ./mine" in capsys.readouterr().out
    return tmp_path / "mine"


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_it_runs_and_says_the_same_in_json_and_on_a_page(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "./mine", *TINY, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    jsonschema.validate(told, json.loads(SCHEMA.read_text()))
    assert [rung["counts"]["Loads"]["value"] for rung in told["rungs"]] == [128, 32]

    assert main(["lab", "./mine", *TINY, "--html", "mine.html"]) == 0
    assert capsys.readouterr().out == "written to mine.html, reports of 2 rungs to mine_rungs\n"
    page = Path("mine.html").read_text()
    assert '<a href="mine_rungs/2_wide.html">2_wide</a>' in page
    assert "a quarter of the loads" in page
    assert "Roofline with the rungs as a path" in page
    assert "float4 x = in[i];" in page
    report = Path("mine_rungs/2_wide.html").read_text()
    assert '<a href="../mine.html">' in report
    assert "LDG.E.128" in report


def test_several_gpus_are_columns(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "./mine", *TINY, "--gpu", "h200,h100", "--rung", "2"]) == 0
    told = capsys.readouterr().out
    assert "1_scalar" not in told
    assert "uncalibrated" in told


def test_a_wrong_result_shows_where_and_no_time(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(lab / "2_wide.cu", "factor * x.y", "x.y")
    assert main(["lab", "./mine", *TINY]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("2_wide is wrong, so no time is given:\n  out[1]: expected ")
    assert "; out[5]: expected" in said.err
    assert "1,024 of 4,096 elements differ" in said.err


def test_a_wrong_count_is_told(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(lab / "lab.toml", '"n / 128"', '"n / 64"')
    assert main(["lab", "./mine", *TINY]) == 1
    assert "global_ld.sum: expected n / 64 = 64, found 32" in capsys.readouterr().err


def test_what_is_written_is_checked(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(lab / "lab.toml", "n = 16777216", "n = 8192")
    assert main(["lab", "./mine", "--write"]) == 0
    assert "| [2_wide](2_wide.cu) |" in (lab / "README.md").read_text()
    assert main(["lab", "./mine", "--check"]) == 0
    changed(lab / "results.csv", "full,1_scalar,smsp__sass_inst_executed_op_global_ld.sum,256", "full,1_scalar,x,257")
    capsys.readouterr()
    assert main(["lab", "./mine", "--check"]) == 1
    assert "-full,1_scalar,x,257" in capsys.readouterr().out


def test_a_rung_is_explained_by_the_lab_beside_it(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "mine/2_wide.cu", "--set", "n=4096", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["launch"]["grid"] == [4, 1, 1]


@pytest.mark.parametrize(
    ("name", "said"), [("Mine", "possible are small letters"), ("../up", "possible are small letters"), ("", "cannot")]
)
def test_wrong_names_are_refused(name: str, said: str, lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "lab", name]) == 2
    assert said in capsys.readouterr().err


def test_an_existing_folder_is_left_alone(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (lab / "lab.toml").read_text()
    assert main(["new", "lab", "mine"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert (lab / "lab.toml").read_text() == before


def test_the_labs_are_listed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab"]) == 0
    told = capsys.readouterr().out
    assert all(name in told for name in names())
    assert "_template" not in told
    assert main(["lab", "coalescin"]) == 2
    assert "did you mean coalescing?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "', "titel = \"", "'titel' is no key of a lab and no rung"),
        ("[1_scalar]", "[scalar]", "'scalar' is no key of a lab and no rung"),
        ("[2_wide]", "[3_wider]", "[3_wider] there is no file 3_wider.cu beside lab.toml"),
        ("set = {", "sets = {", "[2_wide] has the unknown key 'sets'"),
        ("set = { each", "set = { many", "there is no name 'many' to replace; [names] has n, block, each"),
        ("set = { each = 4 }", "sweep = { each = 4 }", "sweep must be such as"),
        ('bytes = "8 * n"', 'seconds = "8 * n"', "work is told in bytes and flops, not in seconds"),
        ("teaches = \"Each thread moves 16", "teach = \"Each thread moves 16", "unknown key 'teach'"),
        ("title = ", "title ", "lab.toml is not TOML"),
        ('"n / (block * each)"', '"n / (block * eech)"', "no name 'eech'"),
        ('name = "scale"', 'name = "scal"', "no kernel 'scal' in mine/1_scalar.cu; it has scale: write name ="),
        ('name = "scale"', "", "[1_scalar] there is no kernel '1_scalar' in mine/1_scalar.cu; it has scale"),
    ],
)  # fmt: skip
def test_mistakes_in_lab_toml_are_told(
    old: str, new: str, said: str, lab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(lab / "lab.toml", old, new)
    assert main(["lab", "./mine", *TINY]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert "mine/lab.toml:" in error


def test_without_a_name_all_labs_are_checked(
    lab: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warplens.labs.lab_catalog.names", lambda: ["mine", "./mine"])
    monkeypatch.setattr("warplens.labs.lab_catalog.FOLDER", Path())
    assert main(["lab", "--check", "--size", "small"]) == 1
    assert capsys.readouterr().err.count("mine is out of date: run `warplens lab mine --write`") == 2
    assert main(["lab", "--json"]) == 2
    assert "of which lab?" in capsys.readouterr().err


def test_mistakes_on_the_command_line_are_told(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--size", "big"], "possible are small, full, or names of the lab"),
        (["--size", "m=3"], "the lab has no name 'm'; it has n, block, each"),
        (["--rung", "7"], "mine has no rung '7'; there are: 1_scalar, 2_wide"),
        (["--write", "--json"], "exclude each other"),
        (["--check", "--rung", "1"], "leave --rung and other GPUs out"),
        (["--check", "--size", "n=1"], "small and the full size"),
        (["--times"], "--times is for --write"),
    ):
        assert main(["lab", "./mine", *words]) == 2
        assert said in capsys.readouterr().err


def test_truth_that_does_not_fit_is_told(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed(lab / "truth.py", ", n: Any)", ")")
    assert main(["lab", "./mine", *TINY]) == 2
    assert "truth() takes 3 arguments, and 1_scalar has 4" in capsys.readouterr().err


@pytest.mark.long
def test_a_readme_without_the_full_size_tells_the_small_one(lab: Path) -> None:
    assert main(["lab", "./mine", "--write", "--size", "small"]) == 0
    told = (lab / "README.md").read_text()
    assert "| [2_wide](2_wide.cu) | 11,264 | 512 |" in told
    assert "This is the small size." in told


def test_only_times_leaves_what_was_computed(
    lab: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warplens.labs.gpu_measurement.present", lambda _: None)
    assert main(["lab", "./mine", "--write", "--times"]) == HardwareError.exit_code
    assert "this machine has none" in capsys.readouterr().err

    timing = Timing(2.0, 1.5, 2.5, 1.0, 1980.0, 15, "NVIDIA H200", "580.1", "13.0")
    monkeypatch.setattr("warplens.labs.gpu_measurement.present", lambda _: object())
    monkeypatch.setattr("warplens.labs.kernel_rung.KernelRung.time", lambda *_: timing)
    monkeypatch.setattr("shutil.which", lambda _: None)
    assert main(["lab", "./mine", "--write", "--times", "--size", "small"]) == 0
    assert not (lab / "results.csv").exists()
    assert "NVIDIA H200,580.1,13.0" in (lab / "measured.csv").read_text()
