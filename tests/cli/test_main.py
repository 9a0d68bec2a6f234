"""The command line as its user meets it: exit codes, messages, and what is printed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from helpers.source_files import source_file
from warplens.cli.main import cli, main
from warplens.report.json.document import schema

ROOT = Path(__file__).parents[2]
COPY = str(ROOT / "examples" / "copy.cu")
REPORT = str(ROOT / "tests" / "kernels" / "report.cu")
CUBIN = str(ROOT / "tests" / "data" / "kernels.sm_90.cubin")
SMALL = ("--kernel", "nccopy", "--set", "n=4096", "--arch", "sm_90")  # no GPU: no time is predicted
STARTED = ("explain", CUBIN, "--kernel", "ccopy", "--grid", "2", "--block", "32")


def command(*arguments: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "warplens", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | environment,
    )  # fmt: skip


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    """What stands on stderr; stdout must be empty."""
    assert main(arguments) == code
    out, error = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in error
    return error


def test_explain_tells_of_every_kernel_of_the_block(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", COPY, "--set", "n=4096"]) == 0
    out = capsys.readouterr().out
    assert "uncoalesced global loads: 50 % of sectors wasted" in out
    assert "Instead: " in out
    assert out.startswith("ccopy: ")


def test_brief_is_a_few_sentences_or_two_kilobytes(capsys: pytest.CaptureFixture[str]) -> None:
    brief = ["explain", COPY, "--set", "n=4096", "--brief"]
    assert main(brief) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.startswith("ccopy: ")
    assert second.startswith("nccopy: ")
    assert all(len(text.strip().split("\n")) <= 15 for text in (first, second))
    assert main([*brief, "--json"]) == 0
    out = capsys.readouterr().out
    assert [found["kernel"] for found in json.loads(out)] == ["ccopy", "nccopy"]
    assert len(out) <= 2 * 2048


def test_brief_goes_with_one_gpu_and_one_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--brief goes with --json or alone" in refusal(capsys, "explain", COPY, "--brief", "--csv")
    assert "--brief is for one GPU" in refusal(capsys, "explain", COPY, "--brief", "--gpu", "h200,a100")


def test_lines_says_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    counts = []
    for count in ("2", "5"):
        assert main(["explain", COPY, *SMALL, "--lines", count]) == 0
        tail = capsys.readouterr().out.split("Hottest Instructions")[1]
        counts.append(tail.count("\n0x"))
    assert counts == [2, 5]


def test_json_is_one_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", COPY, *SMALL, "--json"]) == 0
    out, error = capsys.readouterr()
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert error == ""
    assert document["prediction"]["time_us"] > 0
    assert document["metrics"]["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum"]["value"] == 4096 // 32 * 8
    assert {line["file"] for line in document["lines"]} == {COPY}


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("more", "other"),
    [
        ((), {"WARPLENS_THREADS": "2", "LC_ALL": "C", "NO_COLOR": "1"}),
        (("--gpu", "none"), {"WARPLENS_THREADS": "2", "WARPLENS_CACHE": "off", "HOME": "/nonexistent"}),
        pytest.param((), {"WARPLENS_CACHE": "off"}, marks=pytest.mark.long),  # compiles the model: 20 s
    ],
)
def test_json_is_the_same_in_every_process(more: tuple[str, ...], other: dict[str, str]) -> None:
    environments = [
        {"PYTHONHASHSEED": "1", "WARPLENS_THREADS": "1", "COLUMNS": "40", "TZ": "Asia/Tokyo"},
        {"PYTHONHASHSEED": "2"} | other,
    ]
    words = ("explain", REPORT, "--kernel", "odd", "--arch", "sm_90", "--json", *more)
    # One after the other: together they would compile the model twice.
    first, second = (command(*words, **environment).communicate()[0] for environment in environments)
    assert first.startswith(b'{\n "version": 2,')
    assert second == first


def test_json_keeps_the_path_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["explain", "examples/copy.cu", *SMALL, "--json"]) == 0
    assert str(ROOT) not in capsys.readouterr().out


def test_what_the_kernel_printed(capsys: pytest.CaptureFixture[str]) -> None:
    prints = str(ROOT / "tests" / "kernels" / "prints.cu")
    assert main(["explain", prints, "--kernel", "prints", "--arch", "sm_90", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.validate(document, schema())
    assert document["printed"].splitlines()[24:26] == ["block 0, <lane> 24", "block 1, <lane> 0"]
    assert len(document["notes"]) == 2
    error = refusal(capsys, "explain", prints, "--kernel", "fails", "--arch", "sm_90", code=3)
    assert error.startswith("still fine\nstill fine\n")
    assert "Assertion `threadIdx.x == 0` failed.\nerror: assertion `threadIdx.x == 0` failed:" in error


def test_html_is_written_to_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", COPY, *SMALL, "--html", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_html_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "none" / "page.html")
    assert f"cannot write {path}: there is no folder" in refusal(capsys, "explain", COPY, *SMALL, "--html", path)


REFUSED = [
    (["gpus", "--numbers", "h300"], "error: no GPU 'h300' is known, only a10, a100"),
    (["explain"], "explain takes a FILE, or --from with one"),
    (["explain", COPY, "--frob"], "No such option"),
    (["frob"], "No such command 'frob'"),
    (["explain", "gone.cu"], "error: no such file: gone.cu\n"),
    (["explain", COPY, "--kernel", "copy"], "did you mean ccopy? There are: ccopy, nccopy"),
    ([COPY], f"{COPY} is a file, not a command: `warplens explain {COPY}`"),
    (["explain", COPY, "ccopy"], "a kernel is chosen by --kernel"),
    (["explain", COPY, "--gpu", "h300"], "error: no GPU 'h300' is known, only a10, a100"),
    (["explain", COPY, "--arch", "sm_91"], "unknown architecture 'sm_91'"),
    (["explain", COPY, "--grid", "4"], "has 2 kernels; choose one with --kernel: ccopy, nccopy"),
    (["explain", COPY, *SMALL, "--csv", "--html", "x"], "--csv and --html exclude each other"),
    (["explain", CUBIN], "choose one with --kernel: ccopy"),
    (["explain", CUBIN, "--kernel", "ccopy"], "give --grid and --block; ccopy takes 3 arguments"),
    ([*STARTED], "takes 3 arguments (of 8, 8 and 4 bytes), and none is given"),
    ([*STARTED, "--arg", "null", "--arg", "null", "--arg", "null"], "argument 3"),
    (["explain", str(Path(__file__).parents[2] / "README.zh.md")], "this is text; a cubin is needed"),
    (["occupancy"], "give a FILE, or --registers and --block"),
    (["occupancy", "--registers", "32"], "--block is missing"),
    (["occupancy", "--registers", "300", "--block", "128"], "a thread can have 0 to 255"),
    (["occupancy", CUBIN, "--kernel", "ccopy", "--block", "32", "--registers", "9"], "cannot be combined with FILE"),
]


@pytest.mark.parametrize(("arguments", "says"), REFUSED)
def test_wrong_usage_is_one_sentence_and_exit_2(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refusal(capsys, *arguments)


RECORD = "kernel,grid,block,smsp__inst_executed.sum\nnccopy,1x1x1,32x1x1,"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot read RECORD: No such file or directory"),
        (b"", "is not a record of counters: it needs the columns kernel, grid, block"),
        (b"\x80\xff\0\1", "is not a record of counters: it is no text"),
        (b"\0\0\0", "is not a record of counters"),
        (b'{"kernel": [1, 2', "is not a record of counters"),
        (b"x" * 200_000, "is not a record of counters"),
        (f"{RECORD}many".encode(), "is damaged: smsp__inst_executed.sum is 'many', and a number is wanted"),
        (f"{RECORD}nan".encode(), "is damaged: smsp__inst_executed.sum is 'nan'"),
        (f"{RECORD}1,2".encode(), "is damaged: a line of 5 values stands below 4 columns"),
        (b"kernel,grid,block\nnccopy", "is damaged: a line of 1 values"),
        (f"{RECORD}1".encode(), "has no launch of nccopy with grid"),
    ],
)
def test_a_bad_record_is_one_sentence(
    content: bytes | None, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.csv"
    if content is not None:
        record.write_bytes(content)
    error = refusal(capsys, "validate", COPY, *SMALL, "--against", str(record))
    assert says.replace("RECORD", str(record)) in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (".", "cannot write .: it is a folder; name a file in it"),
        ("no/where.html", "cannot write no/where.html: there is no folder no; make it first"),
    ],
)
@pytest.mark.parametrize("verb", [("explain", COPY, "--html"), ("lab", "dram", "--html"), ("validate", COPY, "--save")])
def test_a_place_that_cannot_be_written_is_said_before_anything_is_run(
    verb: tuple[str, ...], where: str, says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("warplens.kernel.execute", lambda *_, **__: pytest.fail("a kernel was run"))
    assert refusal(capsys, *verb, where) == f"error: {says}\n"


@pytest.mark.parametrize("verb", [("explain",), ("explain", COPY, "--html"), ("validate", COPY, "--against")])
def test_a_path_with_a_byte_of_0(verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    small = SMALL if len(verb) > 1 else ()
    assert refusal(capsys, *verb, "a\0b", *small).startswith("error: ")


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", Path(CUBIN).read_bytes()[:3000], bytes(range(64)) + b"\xff"])
def test_a_file_that_is_no_cubin(damage: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.cubin").write_bytes(damage)
    assert refusal(capsys, "explain", str(tmp_path / "x.cubin")).startswith(f"error: {tmp_path}/x.cubin: ")


def test_the_compilers_own_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.cu").write_text("__global__ void k( { }")
    assert "bad.cu(1): error" in refusal(capsys, "explain", str(tmp_path / "bad.cu"))


def test_a_fault_of_the_kernel_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(
        capsys, *STARTED, "--arg", "in=zeros:f32[64]", "--arg", "out=zeros:f32[10]", "--arg", "64", code=3
    )  # fmt: skip
    assert "past the end of argument 2 (out)" in error


UNSUPPORTED = """extern "C" __global__ void arrive(char *g, float *o) {
 unsigned long long s; __shared__ unsigned long long b;
 unsigned a = __cvta_generic_to_shared(&b);
 asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(a)); o[0] = s; }
extern "C" __global__ void fine(float *o) { o[0] = 1; }
// /// warplens
// [arrive]
// grid = 1
// block = 32
// args = ["null", "zeros f32[1]"]
// [fine]
// grid = 1
// block = 32
// args = ["zeros f32[1]"]
// ///
"""


def test_a_kernel_that_cannot_be_executed_here_is_exit_4(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(capsys, "explain", str(source_file(UNSUPPORTED)), "-k", "arrive", "--arch", "sm_90", code=4)
    assert "arrivals that may not end a phase (mbarrier.arrive.noComplete) from sm_90 on are not emulated" in error


def test_json_has_the_error_of_each_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(source_file(UNSUPPORTED)), "--arch", "sm_90", "--json"]) == 4
    first, second = json.loads(capsys.readouterr().out)
    for document in (first, second):
        jsonschema.validate(document, schema())
    assert (first["kernel"], first["error"]["type"]) == ("arrive", "UnsupportedInstruction")
    assert second["metrics"]


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        ([*STARTED, "--arg", "in=zeros:f32[64]", "--arg", "zeros:f32[10]", "--arg", "64"], 3, "KernelFault"),
        ([*STARTED], 2, "UsageError"), (["explain", "gone.cu"], 2, "UsageError"),
        (["sass", CUBIN], 2, "UsageError"), (["compare", CUBIN, "ccopy", "gone"], 2, "UsageError"),
        (["explain", COPY, *SMALL, "--html", "x"], 2, "UsageError"),
    ],
)  # fmt: skip
def test_json_of_an_error(
    arguments: list[str], code: int, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:  # fmt: skip
    assert main([*arguments, "--json"]) == code
    out, said = capsys.readouterr()
    document = json.loads(out)
    jsonschema.validate(document, schema())
    assert (document["error"]["type"], document["error"]["exit_code"]) == (kind, code)
    assert document["error"]["message"] in said


@pytest.mark.every(8)
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("arguments", "code"), [(["explain", COPY, *SMALL], 0), (["gpus"], 0), (["explain", "gone.cu"], 2), (["--help"], 0)]
)
def test_closed_streams(arguments: list[str], code: int, closed: str) -> None:
    line = shlex.join([sys.executable, "-m", "warplens", *arguments])
    ended = subprocess.run(["bash", "-c", f"{line} {closed}"], capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert "Traceback" not in ended.stdout + ended.stderr
    assert len(ended.stderr.splitlines()) <= 1


def test_a_gpu_of_the_environment_that_is_not_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARPLENS_GPU", "voodoo")
    assert "no GPU 'voodoo' is known" in refusal(capsys, "explain", COPY)


@pytest.mark.parametrize("verb", [None, *sorted(cli.commands)])
def test_help_fits_80_columns(verb: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([*([verb] if verb else []), "--help"], prog_name="warplens", terminal_width=80)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert verb or "..." not in text.split("Commands:")[1]  # no command's description is cut off


def test_help_imports_nothing_heavy() -> None:
    seen = subprocess.run(
        [sys.executable, "-c", "import sys, warplens.cli.main as c; c.main(['--help']); print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "explain" in seen
    loaded = {name.split(".")[0] for name in seen.splitlines()[-1].split()}
    # email is what importlib.metadata loads
    assert loaded & {"numpy", "llvmlite", "rich", "jinja2", "cuda", "elftools", "email"} == set()


def test_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    ready = tmp_path / "cache"
    (tmp_path / "spin.cu").write_text(
        "__global__ void spin(int* out, int n) {\n"
        "  int v = threadIdx.x;\n"
        "  for (int i = 0; i < n; ++i) v = v * 1664525 + 1013904223 + (v >> 3);\n"
        "  if (v == 42) out[0] = v;\n}\n"
    )
    running = command(
        "explain", str(tmp_path / "spin.cu"), "--grid", "1000000", "--block", "256", "--arg", "zeros:i32[4]",
        "--arg", "100000", WARPLENS_CACHE=str(ready),
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (ready / "object").exists() and time.monotonic() < deadline:  # written when the run begins
        time.sleep(0.1)
    time.sleep(0.5)
    interrupted = time.monotonic()
    running.send_signal(signal.SIGINT)
    try:
        _, error = running.communicate(timeout=30)
    finally:
        running.kill()
    assert running.returncode == 130
    assert time.monotonic() - interrupted < 2
    assert b"Traceback" not in error


def test_a_closed_pipe_is_no_error() -> None:
    running = command("explain", COPY, *SMALL)
    assert running.stdout is not None
    running.stdout.close()
    running.wait(60)
    assert running.stderr is not None
    assert (running.returncode, running.stderr.read()) == (0, b"")


def test_a_kernel_that_faults_does_not_hide_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "two.cu"
    file.write_text(
        """// /// warplens
// [beyond]
// grid = 1
// block = 64
// args = ["x = zeros i32[32]"]
//
// [within]
// grid = 1
// block = 32
// args = ["x = zeros i32[32]"]
// ///
__global__ void beyond(int* x) { x[threadIdx.x + (1 << 20)] = 1; }
__global__ void within(int* x) { x[threadIdx.x] = 1; }
"""
    )
    assert main(("explain", str(file))) == 3
    out, error = capsys.readouterr()
    assert error.startswith("error: beyond: ")
    assert "Kernel   within" in out
    assert main(("explain", str(file), "--html", str(tmp_path / "page.html"))) == 3
    assert not (tmp_path / "page.html").exists()
