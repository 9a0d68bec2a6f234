"""`warplens explain --gpu` and `compare --gpu`: which runs get a prediction, and what is refused.

No model is asked: the predictions are made up.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import jsonschema
import pytest

from helpers.made_up_predictions import made_up
from warplens.cli.main import main
from warplens.core.metric import Metric
from warplens.errors import Unpredictable
from warplens.model.result.prediction import Prediction
from warplens.report.json.document import schema
from warplens.run import Run

ROOT = Path(__file__).parents[2]
COPY = str(ROOT / "examples" / "copy.cu")
CUBIN = str(ROOT / "tests" / "data" / "kernels.sm_90.cubin")
SMALL = ("--kernel", "nccopy", "--set", "n=4096")
TIMES = {"h200": 80.0, "a100": 160.0, "rtx4090": 40.0, "h100": 90.0}


def predict(run: Run, gpu: str | None = None, what_if: Sequence[str] = ()) -> Prediction:
    """A made-up time; half of it without a cause."""
    if run.launch.blocks == 1:
        raise Unpredictable("one block says nothing of a steady state")
    time = TIMES[run.machine.key] / (2 if what_if else 1)
    made = made_up(run.subject, "H200, 2026-11-21" if run.machine.key == "h200" else "")
    active = 0.9 * time * run.machine.boost_megahertz
    warps = 0.7419 * run.machine.limits.warps_per_multiprocessor * run.machine.multiprocessors
    identity = {
        "sm__cycles_active.avg": Metric(active, "cycle", "modelled"),
        "smsp__average_warps_active_per_inst_executed.ratio": Metric(
            warps * active / run["smsp__inst_executed.sum"], "cycle", "modelled"
        ),
    }
    return replace(made, time_us=time, metrics={**made.metrics, **identity})


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "predict", predict)
    monkeypatch.delenv("WARPLENS_GPU", raising=False)


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 0
    return capsys.readouterr().out


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(arguments) == 2
    printed, error = capsys.readouterr()
    assert printed == ""
    return error


def test_a_gpu_that_is_named_gets_a_prediction(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = out(capsys, "explain", COPY, *SMALL, "--gpu", "h200")
    assert "Time on the NVIDIA H200 SXM  modelled\nEvent time" in told
    assert "Lower Bound per Unit" not in told
    monkeypatch.setenv("WARPLENS_GPU", "a100")
    assert "Time on the NVIDIA A100 SXM 40 GB  modelled, uncalibrated\n" in out(capsys, "explain", COPY, *SMALL)


def test_a_gpu_that_nobody_named_is_the_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    choosing = import_module("warplens.machine.gpu_choice")
    monkeypatch.setattr(choosing, "detect", lambda: None)
    told = out(capsys, "explain", COPY, *SMALL)
    assert "NVIDIA H200 SXM (default; choose with --gpu)" in told
    assert "Event time" in told
    told = out(capsys, "explain", COPY, *SMALL, "--arch", "sm_80")
    assert "NVIDIA A100 SXM 40 GB (default; choose with --gpu)" in told
    monkeypatch.setattr(choosing, "detect", lambda: "rtx4090")
    assert "NVIDIA GeForce RTX 4090 (found in this machine)" in out(capsys, "explain", COPY, *SMALL)
    by_hand = ("--grid=32", "--block=128", "--arg=zeros:f32[4096]", "--arg=zeros:f32[4096]", "--arg=4096")
    found = json.loads(out(capsys, "explain", CUBIN, "--kernel", "ccopy", *by_hand, "--json"))
    assert (found["gpu"], found["gpu_from"]) == ("h200", "default")


def test_no_time_is_predicted_for_the_gpu_none(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = out(capsys, "explain", COPY, *SMALL, "--gpu", "none")
    assert "Event time" not in told
    assert "Lower Bound per Unit" in told
    assert "Event time" not in out(capsys, "explain", COPY, *SMALL, "--gpu", "none", "--arch", "sm_80")
    monkeypatch.setenv("WARPLENS_GPU", "none")
    assert "Event time" not in out(capsys, "explain", COPY, *SMALL)


def test_a_budget_of_the_predicted_time(capsys: pytest.CaptureFixture[str]) -> None:
    both = ("compare", COPY, "--set", "n=4096", "--gpu", "h200", "--fail-on")
    assert main((*both, "gpu__time_duration.sum > 1.1")) == 0
    assert main((*both, "gpu__time_duration.sum >= 1")) == 1
    capsys.readouterr()
    told = refusal(capsys, *both[:-2], "none", "--fail-on", "gpu__time_duration.sum > 1")
    assert "gpu__time_duration.sum is predicted" in told


def test_json_has_the_prediction(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(out(capsys, "explain", COPY, *SMALL, "--gpu", "h200", "--what-if", "ideal_access", "--json"))
    jsonschema.validate(found, schema())
    assert found["prediction"]["time_us"] == 80
    assert [(w["name"], w["time_us"]) for w in found["what_if"]] == [("ideal_access", 40)]


def test_what_if_is_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    told = out(
        capsys, "explain", COPY, *SMALL, "--gpu", "h200", "--what-if", "no_divergence,full_occupancy",
        "--what-if", "ideal_access",
    )  # fmt: skip
    words = " ".join(told.split())
    for cause in ("no divergence", "full occupancy", "all accesses fully coalesced"):
        assert f"{cause} 2 times as fast 80.0 µs 40.0 µs" in words


def test_what_if_of_an_unknown_cause_or_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(capsys, "explain", COPY, *SMALL, "--gpu", "h200", "--what-if", "no_latency")
    assert "no 'no_latency' is known; possible are ideal_access, no_bank_conflicts" in error
    assert "--what-if needs a GPU" in refusal(
        capsys, "explain", COPY, *SMALL, "--gpu", "none", "--what-if", "ideal_access"
    )


def test_several_gpus_are_a_row_each(capsys: pytest.CaptureFixture[str]) -> None:
    told = out(capsys, "explain", COPY, *SMALL, "--gpu", "a100, H200,rtx4090")
    assert told.startswith("nccopy: 40.0 µs on the NVIDIA GeForce RTX 4090, the fastest of 3 (modelled)\n")
    rows = [line.split()[:4] for line in told.splitlines() if re.match(r"\S+ +sm_", line)]
    assert rows == [
        ["a100*", "sm_80", "160", "µs"], ["h200", "sm_90", "80.0", "µs"], ["rtx4090*", "sm_89", "40.0", "µs"],
    ]  # fmt: skip
    assert "* uncalibrated: " in told
    assert max(map(len, told.splitlines())) <= 100


def test_several_gpus_as_json_and_html(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = json.loads(out(capsys, "explain", COPY, *SMALL, "--gpu", "a100,h200", "--json"))
    assert [(row["gpu"], row["arch"], row["prediction"]["time_us"]) for row in found["gpus"]] == [
        ("a100", "sm_80", 160), ("h200", "sm_90", 80),
    ]  # fmt: skip
    assert found["gpus"][0]["prediction"]["calibrated"] is None
    for row in found["gpus"]:
        jsonschema.validate(row["prediction"], {"$ref": "#/$defs/prediction", "$defs": schema()["$defs"]})
    out(capsys, "explain", COPY, *SMALL, "--gpu", "a100,h200", "--html", str(tmp_path / "page.html"))
    text = (tmp_path / "page.html").read_text()
    assert '<th scope="row">a100*</th><td>sm_80</td><td>160 µs</td>' in text
    assert ">nccopy on a100</a>" in text
    assert [text.count(f"id=\"k{number}-accesses\"") for number in (1, 2)] == [1, 1]


def test_a_gpu_that_refuses_the_launch_has_a_row_that_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    told = " ".join(out(capsys, "explain", COPY, *SMALL, "--gpu", "t4,h200", "--shared", "100000").split())
    assert "t4 sm_75 – no prediction: " in told
    assert "80.0 µs on the NVIDIA H200 SXM, the fastest of 1" in told


def test_where_the_model_does_not_apply_counts_stand(capsys: pytest.CaptureFixture[str]) -> None:
    told = out(capsys, "explain", COPY, "--kernel", "nccopy", "--set", "n=128", "--gpu", "h200")
    assert "no prediction: one block says nothing of a steady state" in told
    assert "Instruction Mix" in told
    rows = " ".join(out(capsys, "explain", COPY, "--kernel", "nccopy", "--set", "n=128", "--gpu", "h200,h100").split())
    assert rows.count("no prediction: one block says nothing of a steady state") == 2


def test_code_for_another_architecture_is_refused_before_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    launch = ("--kernel", "ccopy", "--grid", "2", "--block", "32", "--arg", "null", "--arg", "null", "--arg", "0")
    for gpus in ("a100", "h200,a100"):
        error = refusal(capsys, "explain", CUBIN, *launch, "--gpu", gpus)
        assert "the machine code is for sm_90, NVIDIA A100 SXM 40 GB is sm_80: give a cubin for it, or the .cu" in error
    assert "give --arch sm_80, or without --arch" in refusal(
        capsys, "explain", COPY, *SMALL, "--arch", "sm_90", "--gpu", "a100"
    )


def test_gpus_that_are_not_known_or_named_twice(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(capsys, "explain", COPY, *SMALL, "--gpu", "a100,h300")
    assert "no GPU 'h300' is known, only a10, a100" in error
    assert "h300.toml" in error
    assert "names a100 twice" in refusal(capsys, "explain", COPY, *SMALL, "--gpu", "a100,A-100")


def test_checks_are_for_one_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--check is for one GPU" in refusal(capsys, "explain", COPY, *SMALL, "--gpu", "a100,h200", "--check", "all")


def test_compare_takes_times_apart(capsys: pytest.CaptureFixture[str]) -> None:
    told = out(capsys, "compare", COPY, "ccopy", "nccopy", "--set", "n=4096", "--gpu", "h200")
    words = " ".join(told.split())
    assert "nccopy takes as long as ccopy on the NVIDIA H200 SXM: 80.0 µs and 80.0 µs (modelled)" in words
    assert "= 1: the ratio of the times" in told
    assert "needs a prediction: --gpu NAME" in out(
        capsys, "compare", COPY, "ccopy", "nccopy", "--set", "n=4096", "--gpu", "none"
    )


def test_metrics_that_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    wish = ("--metrics", "smsp__inst_executed,dram__bytes_read.sum", "--gpu", "h200")
    told = out(capsys, "explain", COPY, *SMALL, *wish)
    assert told.startswith("nccopy of ")
    assert "on the NVIDIA H200 SXM" in " ".join(told.split())
    assert [line.split() for line in told.split("\n") if "__" in line] == [
        ["smsp__inst_executed.sum", "4,864", "inst", "exact"],
        ["dram__bytes_read.sum", "67,108,864", "byte", "modelled"],
    ]
    document = json.loads(out(capsys, "explain", COPY, *SMALL, *wish, "--json"))
    assert document["metrics"].keys() == {"smsp__inst_executed.sum", "dram__bytes_read.sum"}
    assert "did you mean smsp__inst_executed.sum" in refusal(capsys, "explain", COPY, "--metrics", "smsp__inst_execute")


def test_several_kernels_as_csv_and_as_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    both = (COPY, "--set", "n=4096", "--gpu", "h200")
    names, units, first, second = csv.reader(
        io.StringIO(out(capsys, "explain", *both, "--metrics", "dram__bytes_read", "--csv", "--page", "raw"))
    )
    assert (names[-1], units[-1], first[4], first[-1], second[4]) == (
        "dram__bytes_read.sum", "byte", "ccopy", "67108864", "nccopy",
    )  # fmt: skip
    documents = json.loads(out(capsys, "explain", *both, "--json"))
    assert [document["kernel"] for document in documents] == ["ccopy", "nccopy"]
    for document in documents:
        jsonschema.validate(document, schema())
        assert document["metrics"]["dram__bytes_read.sum"]["provenance"] == "modelled"
    rows = json.loads(out(capsys, "explain", *both[:-1], "h200,h100", "--json"))
    assert [row["kernel"] for row in rows] == ["ccopy", "nccopy"]


def test_metrics_of_several_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    several = (COPY, *SMALL, "--gpu", "h200,a100", "--metrics", "smsp__inst_executed,gpu__time_duration.sum")
    names, _, *rows = csv.reader(io.StringIO(out(capsys, "explain", *several, "--csv")))
    told = [dict(zip(names, row, strict=True)) for row in rows]
    assert [(row["ID"], row["Device"], row["CC"]) for row in told] == [("0", "h200", "9.0"), ("1", "a100", "8.0")]
    assert all(float(row["gpu__time_duration.sum"]) > 0 for row in told)
    tables = " ".join(out(capsys, "explain", *several).split())
    assert "on the NVIDIA H200 SXM" in tables
    assert "on the NVIDIA A100" in tables
    assert main(["explain", COPY, *SMALL, "--gpu", "t4,h200", "--shared", "100000", "--csv"]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 3
    assert shown.err.startswith("nccopy on t4: ")
    refusal(capsys, "explain", COPY, *SMALL, "--gpu", "t4,h200", "--shared", "300000", "--csv")  # by both


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("--csv", "--json"), "--json and --csv exclude each other"),
        (("--page", "raw"), "--page is of --csv"),
        (("--html", "x.html", "--metrics", "regex:."), "--html has all metrics"),
        (("--gpu", "h200,a100", "--json", "--metrics", "regex:."), "--metrics with --json is for one GPU"),
    ],
)
def test_forms_that_exclude_each_other(capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], says: str) -> None:
    assert main(["explain", COPY, *SMALL, *flags]) == 2
    told = capsys.readouterr()
    assert says in told.err
    if "--json" in flags:  # the document with the error
        assert says in json.loads(told.out)["error"]["message"]


def test_the_metrics_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    told = out(capsys, "metrics", "dram__bytes_*").split("\n")
    assert told[:2] == [
        "dram__bytes_read.sum  byte  modelled, with a prediction of the time", "    Bytes read from DRAM",
    ]  # fmt: skip
    assert "no metric has 'drum'" in refusal(capsys, "metrics", "drum")
