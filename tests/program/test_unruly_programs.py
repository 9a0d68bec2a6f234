"""Programs that do what programs should not do: the report of what was seen, the right exit code, nothing left."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers.whole_program import PROGRAMS, built, run
from warplens.cli.main import main
from warplens.errors import CubinError
from warplens.program.device import Device
from warplens.program.shim_library import compiler

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


@pytest.fixture(scope="module")
def unruly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("unruly.c", tmp_path_factory.mktemp("unruly"), "-lcudart", "-lcuda")


def gone(process: int) -> bool:
    """Whether a process has ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(
    ("what", "code", "says"),
    [
        ("close", 0, "closed its connection"),
        ("garbage", 0, "wrote into its connection"),
        ("kill", 128 + signal.SIGKILL, ""),
    ],
)
def test_the_report_of_what_was_seen(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, unruly: Path, what: str, code: int, says: str
) -> None:
    ran = run(capfd, tmp_path, unruly, what)
    assert ran.code == ran.document["exit_code"] == code, ran.err
    assert " malloc 0" in ran.out
    assert says in " ".join(ran.document["notes"])
    if not code:
        assert "the connection to `warplens run` is closed; CUDA calls fail from here on" in ran.err


def test_a_flood_of_output_passes(capfd: pytest.CaptureFixture[str], tmp_path: Path, unruly: Path) -> None:
    ran = run(capfd, tmp_path, unruly, "flood")
    assert ran.code == 0
    assert ran.out.count("\n") == (4 << 20) + 1
    assert ran.err.count("\n") > 4 << 20


def test_a_kernel_that_takes_too_long_is_stopped(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    started = time.monotonic()
    ran = run(capfd, tmp_path, registered, "endless", options=("--timeout", "2.5", "--budget", str(10**15)))
    assert ran.code == 124
    assert time.monotonic() - started < 6
    assert ran.document["ended"] == "after 2.5 s, the limit of --timeout, executing endless"


def test_processes_that_a_program_leaves_behind_are_ended(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, unruly: Path
) -> None:
    ran = run(capfd, tmp_path, unruly, "fork")
    assert ran.code == 0
    assert gone(int(ran.out.splitlines()[1]))


def test_a_program_that_never_ends(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, unruly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = set(os.listdir("/dev/shm"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    started = time.monotonic()
    ran = run(capfd, tmp_path, unruly, "never", options=("--timeout", "0.5"))
    assert ran.code == 124
    assert time.monotonic() - started < 4
    assert ran.document["ended"] == "after 0.5 s, the limit of --timeout"
    assert gone(int(ran.out.split()[0]))
    assert not list((tmp_path / "own").iterdir())
    assert not {name for name in set(os.listdir("/dev/shm")) - shared if "warplens" in name}


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_warplens_itself_is_stopped(tmp_path: Path, unruly: Path, number: int) -> None:
    """By Ctrl-C with the report so far; after kill -9 the program, which would obey SIGTERM, ends too."""
    what = "never" if number == signal.SIGINT else "close"
    command = [sys.executable, "-m", "warplens", "run", "--", str(unruly), what]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stderr
    child = int(process.stdout.readline().split()[0])
    process.send_signal(number)
    code = process.wait(20)
    for _ in range(100):
        if gone(child):
            break
        time.sleep(0.05)
    assert gone(child)
    if number == signal.SIGINT:
        assert code == 130
        assert "ended early: interrupted by Ctrl-C" in process.stderr.read()


def test_a_vendor_library_is_named(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, unruly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "libcublas.so.13"
    (tmp_path / "empty.c").write_text("int nothing;\n")
    subprocess.run([*compiler(), "-shared", "-o", str(library), str(tmp_path / "empty.c")], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    ran = run(capfd, tmp_path, unruly, "table")
    assert "table 500" in ran.out
    (note,) = ran.document["notes"]
    assert note.startswith("the program uses cuBLAS (libcublas.so.13): such a library needs NVIDIA's own driver")
    assert not ran.document["missing"]


def said(capfd: pytest.CaptureFixture[str], *command: object) -> str:
    assert main(["run", "--gpu", "h200", "--", *map(str, command)]) == 2
    return capfd.readouterr().err


def test_what_cannot_be_started_is_explained(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, unruly: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, arm = tmp_path / "text", tmp_path / "arm"
    text.write_text("hello")
    assert "it is not executable: chmod +x" in said(capfd, text)
    text.chmod(0o755)
    assert "it is no executable: neither an ELF file nor a script" in said(capfd, text)
    head = bytearray(unruly.read_bytes())
    head[18:20] = (183).to_bytes(2, "little")
    arm.write_bytes(head)
    arm.chmod(0o755)
    assert "it is for arm64, and `warplens run` works on x86-64 alone" in said(capfd, arm)
    assert "there is no such file" in said(capfd, tmp_path / "nothing")
    assert "it is a folder" in said(capfd, f"{tmp_path}/")
    assert "it is in this folder: write ./arm" in said(capfd, "arm")


def test_why_nothing_was_counted_is_explained(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "main.c"
    code.write_text('__attribute__((section(".nv_fatbin"), used)) int code = 1;\nint main() { return 0; }\n')
    plain, bare = tmp_path / "plain", tmp_path / "bare"
    subprocess.run([*compiler(), "-s", "-o", str(plain), str(code)], check=True)
    assert "it is stripped and has CUDA's runtime in it" in run(capfd, tmp_path, plain).document["notes"][0]
    code.write_text("int main() { return 0; }\n")
    subprocess.run([*compiler(), "-o", str(bare), str(code)], check=True)
    assert "bare: its file has no device code" in run(capfd, tmp_path, bare).document["notes"][0]
    assert run(capfd, tmp_path, PROGRAMS.parent / "programs" / "hello.sh").document["notes"] == []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            CubinError("the code refers to f, which is in another file"),
            "the code refers to f, which is in another file",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "/opt/nvdisasm"), "/opt/nvdisasm: Permission denied"),
    ],
)
def test_a_launch_that_cannot_be_executed_is_refused(
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    registered: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    reason: str,
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(Device, "launch", refuse)
    ran = run(capfd, tmp_path, registered, "racy")
    assert "launch 801" in ran.out
    assert ran.document["notes"] == [f"refused with error 801: {reason}"]
