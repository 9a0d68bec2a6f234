"""`warplens check`: verdicts, exit codes and what is executed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.lab_kernels import REGRESSIONS, parts, source
from warplens.cli.main import main
from warplens.regression.baseline import baseline_text, read_baseline
from warplens.regression.kernel_record import KernelRecord

BASELINE = "warplens-baseline.toml"
SOURCE = """extern "C" __global__ void good(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void strided(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(2 * i) % n];
}

// /// warplens
// n = 1024
// [good]
// grid = 4
// block = 256
// args = ["random f32[n]", "zeros f32[n]", "n"]
// [strided]
// grid = 4
// block = 256
// args = ["random f32[n]", "zeros f32[n]", "n"]
// ///
"""
FASTER = SOURCE.replace("(2 * i) % n", "(2 * i) & 1023")
Check = Callable[..., tuple[int, str]]


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs the verb in a folder of its own: exit code, and what is printed."""
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(SOURCE)

    def run(*arguments: str) -> tuple[int, str]:
        code = main(["check", "--jobs", "1", *arguments])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


@pytest.fixture
def saved(check: Check) -> Check:
    code, output = check("k.cu", "--save")
    assert code == 0
    assert set(verdicts(output).values()) == {"NEW"}
    return check


def verdicts(output: str) -> dict[str, str]:
    lines = [line for line in output.splitlines() if line[:1].isupper()]
    return {line[16:].split(": ")[-1].split(" (")[0]: line[:16].strip() for line in lines}


def test_what_did_not_change_is_not_executed(saved: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warplens.kernel.execute", lambda *_, **__: pytest.fail("a kernel was run"))
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (0, {"good": "UNCHANGED", "strided": "UNCHANGED"})
    assert output.endswith("2 kernels: 2 UNCHANGED; 0 executed\n")
    before = Path(BASELINE).read_bytes()
    assert saved("k.cu", "--save")[0] == 0
    assert Path(BASELINE).read_bytes() == before


def test_a_regression_names_its_line(saved: Check) -> None:
    Path("k.cu").write_text("\n\n// moved\n" + SOURCE.replace("out[i] = in[i];", "out[i] = in[8 * i % n];"))
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (1, {"good": "FAIL", "strided": "UNCHANGED"})
    assert "smsp__sass_sectors_mem_global.sum <= baseline: 1,152 sector (baseline 256), bound 256" in output
    assert "k.cu:6: if (i < n) out[i] = in[8 * i % n];  (256 -> 1,152)" in output
    assert "1 executed" in output


def test_an_unchanged_kernel_that_breaks_a_budget_names_the_line_of_today(saved: Check) -> None:
    Path("k.cu").write_text("\n\n" + SOURCE)
    code, output = saved("k.cu", "--require", "gst_transactions + smsp__sass_sectors_mem_global.sum <= 511")
    assert code == 1
    assert "k.cu:10: if (i < n) out[i] = in[(2 * i) % n];" in output


def test_improved_and_new_and_gone(saved: Check) -> None:
    Path("k.cu").write_text(FASTER.replace("good", "better"))
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (1, {"better": "NEW", "good": "GONE", "strided": "IMPROVED"})
    assert "if it was removed, `warplens check --save`" in output
    assert saved("k.cu", "-k", "strided")[0] == 0, "of one kernel the others are not missed"
    assert saved("k.cu", "--save")[0] == 0
    assert verdicts(saved("k.cu")[1]) == {"better": "UNCHANGED", "strided": "UNCHANGED"}


def test_a_kernel_that_is_gone_beside_one_that_is_wrong(saved: Check) -> None:
    wrong = SOURCE.replace("void strided(", "void other(")
    Path("k.cu").write_text(wrong[: wrong.index("// [good]")] + wrong[wrong.index("// [strided]") :])
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (2, {"good": "GONE", "strided": "ERROR"})
    Path("k.cu").write_text(SOURCE.replace("int i", "int int", 1))
    code, output = saved("k.cu")
    assert (code, output.count("ERROR"), "GONE" in output) == (2, 1 + 1, False), "a file that does not compile, once"


def test_one_kernel_of_several_files(saved: Check) -> None:
    Path("l.cu").write_text(SOURCE.replace("good", "better"))
    code, output = saved("k.cu", "l.cu", "-k", "good")
    assert (code, verdicts(output)) == (0, {"good": "UNCHANGED"})
    code, output = saved("k.cu", "l.cu", "-k", "god")
    assert (code, output.count("no kernel 'god'")) == (2, 2)


def test_a_change_that_keeps_the_budgets_passes(saved: Check) -> None:
    Path("k.cu").write_text(SOURCE.replace("out[i] = in[i];", "out[i] = in[i] * 2;"))
    code, output = saved("k.cu", "--require", "smsp__inst_executed.sum <= 2 * baseline")
    assert (code, verdicts(output)["good"]) == (0, "PASS")


def edit_baseline(change: Callable[[KernelRecord], KernelRecord]) -> None:
    records = read_baseline(Path(BASELINE), BASELINE).records.values()
    Path(BASELINE).write_text(baseline_text(map(change, records)))


def test_other_versions_of_the_tools(saved: Check) -> None:
    edit_baseline(lambda record: replace(record, tools={**record.tools, "nvrtc": "12.9.1"}))
    code, output = saved("k.cu")
    assert (code, set(verdicts(output).values())) == (0, {"UNCHANGED"}), "the machine code is the same"
    assert "0 executed" in output
    Path("k.cu").write_text(FASTER)
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (2, {"good": "UNCHANGED", "strided": "NOT COMPARABLE"})
    assert "nvrtc 13.0.88 (baseline 12.9.1)" in output
    assert saved("k.cu", "--across-versions")[0] == 0
    edit_baseline(lambda record: replace(record, tools={**record.tools, "warplens": "0.0.1"}))
    Path("k.cu").write_text(SOURCE)
    assert "2 UNCHANGED; 2 executed" in saved("k.cu")[1], "another version may count differently"


def test_a_budget_on_what_the_baseline_does_not_keep(saved: Check) -> None:
    budget = "smsp__thread_inst_executed.sum <= baseline"
    assert saved("k.cu", "--require", budget)[0] == 0, "unchanged: as it is today"
    Path("k.cu").write_text(FASTER)
    code, output = saved("k.cu", "--require", budget)
    assert (code, verdicts(output)["strided"]) == (2, "NOT COMPARABLE")
    assert "the baseline has no smsp__thread_inst_executed.sum: `warplens check --save` adds it" in output
    edit_baseline(lambda record: replace(record, counts={k: v for k, v in record.counts.items() if k != "spills"}))
    assert saved("k.cu")[0] == 0, "of the default budgets those that it has"


def test_another_launch(saved: Check) -> None:
    Path("k.cu").write_text(SOURCE.replace("grid = 4", "grid = 8", 1))
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (2, {"good": "NOT COMPARABLE", "strided": "UNCHANGED"})
    assert "8 blocks of 256 threads (baseline 4 blocks of 256 threads)" in output
    Path("k.cu").write_text(SOURCE.replace("n = 1024", "n = 1020"))
    assert "its arguments or variables differ" in saved("k.cu")[1]


def test_another_architecture(saved: Check) -> None:
    code, output = saved("k.cu", "--arch", "sm_80")
    assert (code, set(verdicts(output).values())) == (2, {"NOT COMPARABLE"})
    assert "the baseline has it for sm_90, h200" in output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<<<<<<< ours\n", "the baseline is damaged"),
        ("version = 1\n", ""),
    ],
)
def test_a_damaged_baseline(saved: Check, text: str, says: str) -> None:
    Path(BASELINE).write_text(text)
    code, output = saved("k.cu", "--require", "spills == 0")
    assert says in output
    assert code == (2 if says else 0)
    assert saved("k.cu", "--save")[0] == (2 if says else 0)
    Path("warplens.toml").write_text('files = "k.cu"')
    assert saved("--save")[0] == 0, "all is written again"
    assert saved()[0] == 0


def test_an_edited_entry_leaves_the_other_kernels_checked(saved: Check) -> None:
    text = Path(BASELINE).read_text()
    Path(BASELINE).write_text(text.replace('"smsp__inst_executed.sum" = ', '"smsp__inst_executed.sum" = 9', 1))
    code, output = saved("k.cu")
    assert (code, verdicts(output)) == (2, {"good": "ERROR", "strided": "UNCHANGED"})
    assert "was edited or is damaged" in output


BROKEN = {
    "faults": (3, "out[i] = in[i];", "out[i + n] = in[i];", "out-of-bounds global write"),
    "never ends": (3, "out[i] = in[i];", "while (out[i] == 0) out[n - 1] = 0;", "instructions"),
    "is unknown": (2, "void good(", "void goood(", "write name = "),
    "has no such grid": (2, "grid = 4\n// block = 256", "grid = 4\n// block = 2048", "2048"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_with_one_kernel_is_its_own(check: Check, what: str) -> None:
    expected, old, new, says = BROKEN[what]
    Path("k.cu").write_text(SOURCE.replace(old, new, 1))
    Path("warplens.toml").write_text('files = "k.cu"\nbudgets = "gld_efficiency >= 40"\ninstructions = 20000')
    code, output = check()
    assert (code, verdicts(output)) == (expected, {"good": "ERROR", "strided": "PASS"})
    assert says in output


def test_a_file_that_does_not_compile(check: Check) -> None:
    Path("bad.cu").write_text("__global__ void k( { }")
    code, output = check("bad.cu", "k.cu", "--require", "spills == 0")
    assert (code, output.count("PASS ")) == (2, 2)
    assert "bad.cu(1): error" in output


def test_budgets_of_the_settings(check: Check) -> None:
    Path("warplens.toml").write_text(
        'files = "*.cu"\nbudgets = ["spills == 0", "gld_eficiency >= 1"]\n'
        '[kernels.good]\nbudgets = "gld_efficiency >= 95"\n[kernels.stridden]\nskip = true\n'
    )
    code, output = check()
    assert (code, verdicts(output)["good"], verdicts(output)["strided"]) == (2, "PASS", "PASS")
    assert "did you mean gld_efficiency" in output
    assert "[kernels.stridden] matches no kernel; did you mean strided?" in output
    Path("warplens.toml").write_text('files = "*.cu"\n[kernels."*"]\nbudgets = "gld_efficiency >= 95"')
    code, output = check()
    assert (code, verdicts(output)) == (1, {"good": "PASS", "strided": "FAIL"})
    assert "gld_efficiency >= 95: 50 %, bound 95" in output
    assert "k.cu:8: if (i < n) out[i] = in[(2 * i) % n];" in output


@pytest.mark.long
def test_predictions_and_samples_fail_only_where_asked_for(check: Check) -> None:
    predicted, sampled = "gpu__time_duration.sum <= 1 ns", "smsp__inst_executed.sum <= 1"
    settings = 'files = "k.cu"\nkernels.strided.skip = true\n'
    Path("warplens.toml").write_text(settings)
    code, output = check("--require", predicted)
    assert (code, verdicts(output)) == (0, {"good": "PASS"})
    assert "predicted, so it does not fail the build" in output
    Path("warplens.toml").write_text(f"sample = 3\n{settings}")
    code, output = check("--require", sampled)
    assert (code, "sampled, so it does not fail the build" in output) == (0, True)
    Path("warplens.toml").write_text(f'sample = 3\nfail_on = ["samples", "predictions"]\n{settings}')
    assert check("--require", sampled)[0] == 1


def test_kernels_without_a_launch_are_checked_by_their_machine_code(check: Check) -> None:
    bare = SOURCE[: SOURCE.index("// /// warplens")]
    Path("k.cu").write_text(bare)
    assert check("k.cu", "--save")[0] == 0
    Path("k.cu").write_text(bare.replace("out[i] = in[i];", "out[i] = in[i]; __syncthreads();"))
    code, output = check("k.cu")
    assert (code, verdicts(output)) == (1, {"good": "FAIL", "strided": "UNCHANGED"})
    code, output = check("k.cu", "--require", "gld_efficiency >= 1", "-k", "good")
    assert code == 2
    assert "needs a launch: write a launch block into the file, or [kernels.good]" in output
    Path("warplens.toml").write_text(
        'files = "k.cu"\n[kernels.good]\ngrid = 1\nblock = 32\nargs = ["random f32[32]", "zeros f32[32]", 32]\n'
        'budgets = "gld_efficiency == 100"\n'
    )
    Path(BASELINE).unlink()
    assert check()[0] == 0


def test_nothing_to_check(check: Check) -> None:
    code, output = check("k.cu")
    assert (code, "nothing to check against" in output) == (2, True)
    assert "no files are named" in check()[1]
    assert "no such file: gone.cu" in check("gone.cu", "--require", "spills == 0")[1]
    assert "no format 'xml'; possible are" in check("k.cu", "--format", "xml")[1]
    assert "--report expects NAME=FILE" in check("k.cu", "--report", "sarif")[1]


@pytest.mark.long
def test_workers_give_the_same_answer(saved: Check, capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.cu").write_text(FASTER)
    Path("l.cu").write_text(SOURCE)
    alone = saved("k.cu", "l.cu")
    assert main(["check", "k.cu", "l.cu", "--jobs", "2"]) == alone[0]
    assert capsys.readouterr().out == alone[1]


@pytest.mark.long
def test_ten_seeded_regressions_are_all_caught_with_their_line(check: Check) -> None:
    Path("k.cu").write_text(source(slower=False))
    assert check("k.cu", "--save")[0] == 0
    Path("k.cu").write_text(source(slower=True))
    code, output = check("k.cu")
    assert code == 1
    parts = output.split("k.cu: ")
    for one in REGRESSIONS:
        (found,) = [part for part in parts if part.startswith(f"{one.name} (")]
        assert verdicts(output)[one.name] == "FAIL", one.name
        lines = found.splitlines()
        told = next(number for number, line in enumerate(lines) if one.budget in line and "bound" in line)
        assert one.line in lines[told + 1], one.name


def _in_kernels(text: str) -> str:
    return text[: text.index("// /// warplens")]


def _edited(change: Callable[[str], str]) -> str:
    whole = source(slower=False)
    kernels = _in_kernels(whole)
    changed = change(kernels)
    assert changed != kernels
    return changed + whole[len(kernels) :]


HARMLESS: dict[str, Callable[[str], str]] = {
    "a comment at the top": lambda text: f"// Copyright\n// of nobody\n{text}",
    "a comment in every kernel": lambda text: text.replace("{\n", "{  /* begins\n here */\n"),
    "comments behind lines": lambda text: text.replace(";\n", ";  // done\n"),
    "comments removed": lambda text: "\n".join(line for line in text.split("\n") if not line.startswith("//")),
    "empty lines": lambda text: text.replace("\n", "\n\n"),
    "tabs": lambda text: text.replace("  ", "\t"),
    "joined lines": lambda text: re.sub(r";\n(?= +[a-z])", "; ", text),
    "ends of lines as on Windows": lambda text: text.replace("\n", "\r\n"),
    "braces on lines of their own": lambda text: text.replace(") {\n", ")\n{\n"),
    "a variable's name": lambda text: text.replace(" all = ", " step = ").replace("+= all", "+= step"),
    "a parameter's name": lambda text: re.sub(r"\bout\b", "result", text),
    "a shared array's name": lambda text: text.replace("partial", "sums_of_lanes"),
    "a device function's name": lambda text: text.replace("block_sum", "sum_over_block"),
    "a structure's name": lambda text: text.replace("Pack", "Four"),
    "a moved kernel": lambda _: "\n".join([*parts(False)[5:], *parts(False)[:5]]) + "\n",
    "kernels in reverse": lambda _: "\n".join([parts(False)[0], *parts(False)[:0:-1]]) + "\n",
    "another unused function": lambda text: f"__device__ int unused(int x) {{ return x * 7; }}\n{text}",
    "another variable of the module": lambda text: f"__device__ float unused[64];\n{text}",
    "an unused macro and header": lambda text: f"#include <cstdint>\n#define UNUSED(x) ((x) + 1)\n{text}",
    "a longer spelling": lambda text: text.replace("unsigned t", "unsigned int t").replace("int i =", "signed i ="),
}


@pytest.mark.long
@pytest.mark.every(7)
@pytest.mark.parametrize("edit", HARMLESS)
def test_twenty_harmless_edits_change_nothing(check: Check, edit: str) -> None:
    assert len(HARMLESS) == 20
    Path("k.cu").write_text(source(slower=False))
    assert check("k.cu", "--save")[0] == 0
    Path("k.cu").write_bytes(_edited(HARMLESS[edit]).encode())
    code, output = check("k.cu")
    assert (code, set(verdicts(output).values())) == (0, {"UNCHANGED"}), output
    assert "0 executed" in output


def test_from_another_folder(saved: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names in the baseline are from the folder of the settings, names in reports from the working directory."""
    Path("inc").mkdir()
    Path("inc/n.h").write_text("#define STEP 1\n")
    Path("warplens.toml").write_text('files = "k.cu"\noptions = ["-Iinc"]\n')
    Path("k.cu").write_text('#include "n.h"\n' + SOURCE.replace("in[i];", "in[i * STEP];"))
    code, output = saved()
    assert (code, verdicts(output)) == (0, {"good": "UNCHANGED", "strided": "UNCHANGED"})
    folder = Path.cwd()
    Path("inc/n.h").write_text("#define STEP 3 % n\n")
    monkeypatch.chdir(folder.parent)
    code, output = saved("--config", f"{folder.name}/warplens.toml")
    assert code == 1, "the header is read again"
    assert f"{folder.name}/k.cu: good" in output
    (folder / "inc/n.h").write_text("#define STEP 1\n")
    assert saved("--config", f"{folder.name}/warplens.toml")[0] == 0
    assert saved(f"{folder.name}/k.cu")[0] == 0


def test_contents_of_files_are_inputs(check: Check) -> None:
    np.save("data.npy", np.zeros(1024, np.float32))
    Path("k.cu").write_text(SOURCE.replace("random f32[n]", "file data.npy", 1))
    assert check("k.cu", "--save")[0] == 0
    assert check("k.cu")[0] == 0
    np.save("data.npy", np.ones(1024, np.float32))
    code, output = check("k.cu")
    assert (code, verdicts(output)) == (2, {"good": "NOT COMPARABLE", "strided": "UNCHANGED"})


def test_reports_are_written_beside_the_printed_one(saved: Check) -> None:
    reports = ["--report", "sarif=w.sarif", "--report", "junit=w.xml", "--report", "markdown=w.md"]
    assert saved("k.cu", "--format", "json", *reports)[1].startswith("{")
    assert Path("w.sarif").read_text().startswith("{")
    assert Path("w.xml").read_text().startswith("<?xml")
    assert Path("w.md").read_text().startswith("### warplens: passed")
    assert "there is no folder" in saved("k.cu", "--report", "sarif=no/w.sarif")[1]
